package dev.siphon.csi;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A cluster's monitors in the format of Ceph's option `mon_host`. Entries are separated by commas. Each is an
/// address (`10.0.0.1`, `10.0.0.1:6789`, `[fd00::1]:3300`, a host name) or a bracketed list of addresses by
/// protocol (`[v2:10.0.0.1:3300/0,v1:10.0.0.1:6789/0]`).
///
/// @param entries at least one
public record Monitors(List<Monitor> entries) {
    /// Limit in characters: the list is the source in the mount table, which the kernel cuts at a page.
    private static final int MAX_CHARS = 1024;

    private static final Pattern ENTRY = Pattern.compile("\\[((?:v[12]:[^,\\s]+)(?:,v[12]:[^,\\s]+)*)]|([^,\\s]+)");
    private static final Pattern ADDRESS = Pattern.compile(
            "(?:(v[12]):)?(?:\\[([0-9A-Fa-f:.]{2,45})]|([A-Za-z0-9][A-Za-z0-9.-]{0,252}))(?::([0-9]{1,5}))?(?:/[0-9]+)?");
    private static final int MAX_PORT = 65_535;

    /// One monitor, with its endpoints for messenger v1 and v2; at least one is present.
    public record Monitor(Optional<Endpoint> v1, Optional<Endpoint> v2) {
        /// Default ports: v1 has always used 6789; IANA assigned 3300 for v2.
        private static final int V1_PORT = 6789;

        private static final int V2_PORT = 3300;

        /// Returns the endpoint to test whether the monitor can be reached by TCP.
        public Endpoint preferred() {
            return v2.or(() -> v1).orElseThrow();
        }
    }

    /// The address of a monitor.
    ///
    /// @param host a name, or an address without brackets
    public record Endpoint(String host, int port) {
        @Override
        public String toString() {
            return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
        }
    }

    public Monitors {
        entries = List.copyOf(entries);
    }

    /// Parses a list.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is empty, too long, or has a malformed entry
    public static Monitors parse(String monHost) {
        if (monHost.isEmpty() || monHost.length() > MAX_CHARS) {
            throw malformed(monHost);
        }
        List<Monitor> monitors = new ArrayList<>();
        Matcher matcher = ENTRY.matcher(monHost);
        int end = 0;
        while (end <= monHost.length() && matcher.find(end) && matcher.start() == end) {
            monitors.add(monitor(monHost, Optional.ofNullable(matcher.group(1)).orElse(matcher.group())));
            end = matcher.end() + 1;
            if (end <= monHost.length() && monHost.charAt(end - 1) != ',') {
                throw malformed(monHost);
            }
        }
        if (end != monHost.length() + 1) {
            throw malformed(monHost);
        }
        return new Monitors(monitors);
    }

    /// Returns the addresses or names, without ports.
    public SortedSet<String> hosts() {
        SortedSet<String> hosts = new TreeSet<>();
        for (Monitor monitor : entries) {
            monitor.v1().ifPresent(endpoint -> hosts.add(endpoint.host()));
            monitor.v2().ifPresent(endpoint -> hosts.add(endpoint.host()));
        }
        return hosts;
    }

    /// Splits a list into its entries as written: at commas, but not within brackets, so that
    /// `[v2:10.0.0.1:3300,v1:10.0.0.1:6789]` is one entry. An empty text has none.
    public static List<String> split(String text) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int begin = 0;
        for (int at = 0; at < text.length(); at++) {
            switch (text.charAt(at)) {
                case '[' -> depth++;
                case ']' -> depth--;
                case ',' -> {
                    if (depth == 0) {
                        parts.add(text.substring(begin, at));
                        begin = at + 1;
                    }
                }
                default -> {
                    // part of an entry
                }
            }
        }
        if (!text.isEmpty()) {
            parts.add(text.substring(begin));
        }
        return parts;
    }

    private static Monitor monitor(String monHost, String entry) {
        Optional<Endpoint> v1 = Optional.empty();
        Optional<Endpoint> v2 = Optional.empty();
        for (String text : List.of(entry.split(",", -1))) {
            Matcher matcher = ADDRESS.matcher(text);
            if (!matcher.matches()) {
                throw malformed(monHost);
            }
            String host = matcher.group(2) == null ? matcher.group(3) : matcher.group(2);
            Optional<Integer> port = Optional.ofNullable(matcher.group(4)).map(Integer::valueOf);
            if (port.filter(number -> number < 1 || number > MAX_PORT).isPresent()) {
                throw malformed(monHost);
            }
            Optional<String> protocol = Optional.ofNullable(matcher.group(1));
            // as in Ceph: the port implies a missing protocol; without a port, the monitor has both
            boolean isV2 = protocol.map("v2"::equals).orElse(port.isEmpty() || port.get() == Monitor.V2_PORT);
            boolean isV1 = protocol.map("v1"::equals).orElse(port.isEmpty() || port.get() != Monitor.V2_PORT);
            if (isV2) {
                v2 = Optional.of(new Endpoint(host, port.orElse(Monitor.V2_PORT)));
            }
            if (isV1) {
                v1 = Optional.of(new Endpoint(host, port.orElse(Monitor.V1_PORT)));
            }
        }
        return new Monitor(v1, v2);
    }

    private static DriverException malformed(String monHost) {
        return new DriverException.InvalidRequest("monitors " + QuotedText.of(monHost)
                + " must be addresses as in Ceph's mon_host, at most " + MAX_CHARS + " characters");
    }

    /// Formats the list for Ceph, with explicit protocols.
    @Override
    public String toString() {
        return String.join(",", entries.stream().map(Monitors::text).toList());
    }

    private static String text(Monitor monitor) {
        List<String> addresses = new ArrayList<>();
        monitor.v2().ifPresent(endpoint -> addresses.add("v2:" + endpoint));
        monitor.v1().ifPresent(endpoint -> addresses.add("v1:" + endpoint));
        return "[" + String.join(",", addresses) + "]";
    }
}

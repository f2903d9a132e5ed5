package dev.siphon.csi.server;

import dev.siphon.csi.Quoted;
import java.net.InetSocketAddress;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Where the HTTP server for operators listens, as `HOST:PORT` or `[IPv6]:PORT`; port 0 takes a free one.
public record OpsAddress(String host, int port) {
    private static final Pattern FORM = Pattern.compile("(?:\\[([0-9a-fA-F:.]+)]|([^\\[\\]:]+)):([0-9]{1,5})");
    private static final int MAX_PORT = 65_535;

    public OpsAddress {
        if (host.isEmpty() || port < 0 || port > MAX_PORT) {
            throw new IllegalArgumentException("port " + port + " must be 0 to " + MAX_PORT);
        }
    }

    /// Reads an address.
    ///
    /// @throws IllegalArgumentException if `text` has another form
    public static OpsAddress parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("address " + Quoted.of(text) + " must be HOST:PORT or [IPv6]:PORT");
        }
        String host = matcher.group(1) == null ? matcher.group(2) : matcher.group(1);
        return new OpsAddress(host, Integer.parseInt(matcher.group(3)));
    }

    InetSocketAddress toSocketAddress() {
        return new InetSocketAddress(host, port);
    }

    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
}

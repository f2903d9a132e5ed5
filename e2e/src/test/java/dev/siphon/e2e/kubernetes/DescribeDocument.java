package dev.siphon.e2e.kubernetes;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// A section of Markdown with `kubectl` output. Values that differ between runs are made equal. Events are
/// sorted and deduplicated, because kubectl orders and repeats them arbitrarily.
final class DescribeDocument {
    /// The heading of the section.
    static final String TITLE = "## What `kubectl describe` shows\n";

    private static final String HEAD = TITLE + """

            `make kubernetes` recorded this section on a real Kubernetes 1.36 and Ceph 20, and compares it with the
            output of each run. `make kubernetes RECORD=yes` records it again. Placeholders replace ids, times and
            addresses, and events are sorted.
            """;

    private static final List<Map.Entry<Pattern, String>> ALIKE = List.of(
            Map.entry(Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
            Map.entry(Pattern.compile("\\b([a-z])[0-9a-v]{20,}"), "$1HASH"),
            Map.entry(Pattern.compile("siphon-controller-[0-9a-z]+-[0-9a-z]+"), "siphon-controller-POD"),
            Map.entry(Pattern.compile("[0-9]{13}-[0-9]+-cephfs"), "NUMBERS-cephfs"),
            Map.entry(Pattern.compile("\\s+$"), ""));

    /// The fields of an event's line: empty, type, reason, age, source, message.
    private static final int EVENT_FIELDS = 6;

    private final Cluster cluster;
    private final StringBuilder text = new StringBuilder(HEAD);

    DescribeDocument(Cluster cluster) {
        this.cluster = cluster;
    }

    /// Adds a section with a command and its output.
    void add(String title, String command) {
        String shown = cluster.kubectl(command.split(" ", -1));
        text.append("\n### %s\n\n```\n$ kubectl %s\n%s\n```\n".formatted(title, alike(command), page(shown)));
    }

    String text() {
        return text.toString();
    }

    private String page(String shown) {
        List<String> lines = new ArrayList<>();
        TreeSet<String> events = new TreeSet<>();
        boolean inEvents = false;
        for (String line : shown.lines().map(this::alike).toList()) {
            if (inEvents) {
                event(line).ifPresent(events::add);
            } else {
                lines.add(line);
            }
            inEvents |= line.startsWith("Events:");
        }
        lines.addAll(events);
        return String.join("\n", lines);
    }

    private static Optional<String> event(String line) {
        String[] fields = line.split(" {2,}", -1);
        if (fields.length < EVENT_FIELDS || Pattern.matches("Type|----", fields[1])) {
            return Optional.empty();
        }
        return Optional.of("  %s  %s  1s  %s  %s"
                .formatted(fields[1], fields[2], fields[EVENT_FIELDS - 2], fields[EVENT_FIELDS - 1]));
    }

    private String alike(String line) {
        String same = line.replace(cluster.lab().address(), "10.0.0.1");
        for (Map.Entry<Pattern, String> each : ALIKE) {
            same = each.getKey().matcher(same).replaceAll(each.getValue());
        }
        return same;
    }
}

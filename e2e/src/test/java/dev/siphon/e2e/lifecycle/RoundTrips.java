package dev.siphon.e2e.lifecycle;

import dev.siphon.e2e.driver.ServedProcess;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Counts the commands that a controller sends to Ceph, by its own metric.
final class RoundTrips {
    private static final Pattern COUNTER =
            Pattern.compile("siphon_ceph_commands_total\\{cluster=\"lab\",(.*)\\} ([0-9.e+]+)");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");

    /// Commands that only the readiness check sends, every few seconds.
    private static final Set<String> OF_READINESS = Set.of("mon fs ls", "mgr fs subvolumegroup exist");

    /// Commands that the controller's own client usually serves from its cache. The MDS grants it a directory's
    /// attributes and recalls them when another client changes them.
    private static final Set<String> WITHIN_THE_CLIENT = Set.of("mds get note", "mds probe for reading");

    /// Commands sent during a long clone, and once before the first clone.
    private static final Set<String> BESIDE = Set.of("mds prepare journal flush", "mds flush journal");

    private final ServedProcess controller;

    RoundTrips(ServedProcess controller) {
        this.controller = controller;
    }

    /// Makes a call and counts its commands: daemon and command to number.
    Map<String, Integer> of(Supplier<?> call) {
        Map<String, Integer> before = counts();
        var _ = call.get();
        Map<String, Integer> sent = counts();
        before.forEach((command, count) -> sent.merge(command, -count, Integer::sum));
        sent.values().removeIf(count -> count == 0);
        return sent;
    }

    private Map<String, Integer> counts() {
        Map<String, Integer> counts = new TreeMap<>();
        controller
                .metrics()
                .lines()
                .map(COUNTER::matcher)
                .filter(Matcher::matches)
                .forEach(line -> {
                    Map<String, String> labels = new TreeMap<>();
                    LABEL.matcher(line.group(1)).results().forEach(label -> labels.put(label.group(1), label.group(2)));
                    String command = labels.get("daemon") + " " + labels.get("command");
                    if (!OF_READINESS.contains(command)
                            && !WITHIN_THE_CLIENT.contains(command)
                            && !BESIDE.contains(command)) {
                        counts.merge(command, (int) Double.parseDouble(line.group(2)), Integer::sum);
                    }
                });
        return counts;
    }
}

package dev.siphon.controller.check;

import dev.siphon.csi.check.CheckOutcome;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;

/// The releases of Ceph that Siphon is tested with.
final class Releases {
    private static final int OLDEST = 18;
    private static final int NEWEST = 20;

    private Releases() {}

    /// @param versions the running versions, by type of daemon
    static CheckOutcome judge(SortedMap<String, Set<String>> versions) {
        String older = thoseOf(versions, release -> release < OLDEST);
        String newer = thoseOf(versions, release -> release > NEWEST);
        if (!older.isEmpty()) {
            return new CheckOutcome.Failed(
                    older, "upgrade these daemons: Siphon is for Ceph " + OLDEST + " to " + NEWEST);
        }
        if (!newer.isEmpty()) {
            return new CheckOutcome.Failed(
                    newer, "install a later Siphon: this one is for Ceph " + OLDEST + " to " + NEWEST);
        }
        return new CheckOutcome.Ok(versions.values().stream()
                .flatMap(Collection::stream)
                .distinct()
                .sorted()
                .collect(Collectors.joining(", ")));
    }

    private static String thoseOf(SortedMap<String, Set<String>> versions, IntPredicate release) {
        return versions.entrySet().stream()
                .flatMap(each -> each.getValue().stream()
                        .filter(version -> release.test(release(version)))
                        .map(version -> Map.entry(each.getKey(), version)))
                .map(each -> each.getKey() + " " + each.getValue())
                .collect(Collectors.joining(", "));
    }

    private static int release(String version) {
        String first = version.split("\\.", 2)[0];
        return first.matches("[0-9]{1,9}") ? Integer.parseInt(first) : 0;
    }
}

package dev.siphon.controller.warm;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// A pod that waits at [#GATE], and that no other gate holds.
///
/// @param uid which of all pods that ever had that name
/// @param since when our gate became its only one: its wait counts from then
/// @param patience how long it wants to wait at most; empty for as long as usual
/// @param group those of one job are warmed for together, and let go together
/// @param needs what it asks for
/// @param uses what it reads
public record GatedPod(
        String namespace,
        String name,
        String uid,
        Instant since,
        Optional<Duration> patience,
        String group,
        ResourceAmounts needs,
        NodeRules rules,
        List<DatasetReference> uses) {
    /// The scheduling gate: a pod that has it is not scheduled.
    public static final String GATE = "siphon.dev/dataset";

    /// The annotation that says how long a pod waits there at most: a number of seconds, or `90s`, `10m`, `1h`.
    public static final String PATIENCE = "siphon.dev/max-wait";

    public GatedPod {
        uses = List.copyOf(uses);
    }

    /// The same pod, which waits since then.
    public GatedPod waitingSince(Instant begin) {
        return new GatedPod(namespace, name, uid, begin, patience, group, needs, rules, uses);
    }

    /// The same pod, that needs this besides.
    public GatedPod needing(ResourceAmounts more) {
        return new GatedPod(namespace, name, uid, since, patience, group, needs.plus(more), rules, uses);
    }

    /// How a pod says what it reads.
    public sealed interface DatasetReference {
        /// It names the dataset itself.
        record ByName(String text) implements DatasetReference {}

        /// It has a volume of a PVC, of its own namespace.
        record ByClaim(String claim) implements DatasetReference {}
    }
}

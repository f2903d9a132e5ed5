package dev.siphon.controller.warm;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A pod that waits at [#GATE] and has no other scheduling gate.
///
/// @param uid distinguishes it from earlier pods of the same name
/// @param version the object's: it differs after each change
/// @param since when Siphon's gate became its only one; the wait counts from then
/// @param patience the maximum wait that it requests; empty for the default
/// @param isPlacementRequired whether it may run only where its datasets are on a disk, if they are in time
/// @param group pods of one job share it: their nodes are chosen together
/// @param needs the resources that it requests
/// @param isKnown false while the devices that it requests by ResourceClaims are being read
/// @param uses the datasets that it reads
public record GatedPod(
        String namespace,
        String name,
        String uid,
        String version,
        Instant since,
        Optional<Duration> patience,
        boolean isPlacementRequired,
        String group,
        ResourceAmounts needs,
        boolean isKnown,
        NodeRules rules,
        List<DatasetReference> uses) {
    /// The scheduling gate: a pod with it is not scheduled.
    public static final String GATE = "siphon.dev/dataset";

    /// The annotation with a pod's maximum wait: a number of seconds, or `90s`, `10m`, `1h`.
    public static final String PATIENCE = "siphon.dev/max-wait";

    /// The annotation that makes the nodes with its datasets required (`required`) and not only preferred.
    public static final String PLACEMENT = "siphon.dev/placement";

    public GatedPod {
        uses = List.copyOf(uses);
    }

    /// Returns a copy with another start of the wait.
    public GatedPod waitingSince(Instant begin) {
        return with(begin, needs, isKnown, rules);
    }

    /// Returns a copy that needs more resources.
    ///
    /// @param isAll whether these are all
    public GatedPod needing(ResourceAmounts more, boolean isAll) {
        return with(since, needs.plus(more), isAll, rules);
    }

    /// Returns a copy with other rules.
    public GatedPod within(NodeRules others) {
        return with(since, needs, isKnown, others);
    }

    private GatedPod with(Instant begin, ResourceAmounts all, boolean isAll, NodeRules where) {
        return new GatedPod(
                namespace, name, uid, version, begin, patience, isPlacementRequired, group, all, isAll, where, uses);
    }

    /// Returns the identity alone, of a pod that is too large.
    ///
    /// @param why for the pod's users
    public GatedPod unread(String why) {
        return new GatedPod(
                namespace,
                name,
                uid,
                version,
                since,
                Optional.empty(),
                false,
                uid,
                ResourceAmounts.NONE,
                true,
                new NodeRules(Map.of(), Optional.empty(), List.of()),
                List.of(new DatasetReference.Unread(why)));
    }

    /// How a pod refers to a dataset.
    public sealed interface DatasetReference {
        /// It names the dataset itself.
        record ByName(String text) implements DatasetReference {}

        /// It uses a PVC of its own namespace.
        record ByClaim(String claim) implements DatasetReference {}

        /// It is too large, so it is not known.
        record Unread(String why) implements DatasetReference {}
    }
}

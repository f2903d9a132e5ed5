package dev.siphon.controller.warm;

import dev.siphon.controller.warm.WarmupCluster.Notice;

/// The next step for a pod at the gate, as [GateDecision] decides it and [WarmupController] takes it.
sealed interface GateVerdict {
    /// The gate opens.
    ///
    /// @param placement where the pod runs then
    /// @param result label of the metric
    /// @param notice the event for the pod's users
    record Open(PodPlacement placement, String result, Notice notice) implements GateVerdict {}

    /// The gate stays closed.
    record Wait(Notice notice) implements GateVerdict {}

    /// The gate stays closed for now, without an event: it is not known yet what the pod reads or needs.
    record Undecided() implements GateVerdict {}
}

package dev.siphon.controller.warm;

import java.time.Duration;

/// How long pods wait at the gate, and what for.
///
/// @param patience after which a pod is let go that says nothing else
/// @param spread on how many nodes at least a dataset is filled for a pod, so that the scheduler has a choice
public record GateSettings(Duration patience, int spread) {
    /// @throws IllegalArgumentException if nobody would wait, or for nothing
    public GateSettings {
        if (patience.isNegative() || patience.isZero()) {
            throw new IllegalArgumentException("need at least 1 second");
        }
        if (spread < 1) {
            throw new IllegalArgumentException("need at least 1 node");
        }
    }
}

package dev.siphon.controller.warm;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;

/// How long pods wait at the gate, and what for.
///
/// @param patience after which a pod is let go that says nothing else
/// @param spread on how many nodes at least a dataset is filled for a pod, so that the scheduler has a choice
public record GateSettings(Duration patience, int spread) {
    /// What a pod may ask for: what is filled for it stays on nodes' disks meanwhile, where others want room.
    static final Duration LONGEST = Duration.ofHours(24);

    /// @throws IllegalArgumentException if nobody would wait, or for nothing
    public GateSettings {
        if (patience.isNegative() || patience.isZero()) {
            throw new IllegalArgumentException("need at least 1 second");
        }
        if (spread < 1) {
            throw new IllegalArgumentException("need at least 1 node");
        }
    }

    /// How long this pod waits at most.
    Duration patience(GatedPod pod) {
        return pod.patience()
                .map(wish -> Collections.min(List.of(wish, LONGEST)))
                .orElse(patience);
    }

    /// From when on this pod waits no more.
    Instant end(GatedPod pod) {
        return pod.since().plus(patience(pod));
    }
}

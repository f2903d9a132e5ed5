package dev.siphon.controller.warm;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;

/// How long pods wait at the gate, on how many nodes their datasets are filled, and how many fills run at once.
///
/// @param patience maximum wait of a pod without [GatedPod#PATIENCE]
/// @param spread minimum number of nodes to fill for a pod, so that the scheduler has a choice
/// @param fillsInCluster the limit of fills at once in the whole cluster; 0 for none
public record GateSettings(Duration patience, int spread, int fillsInCluster) {
    /// Maximum wait that a pod may request, because its replicas occupy scarce disk space meanwhile.
    static final Duration LONGEST = Duration.ofHours(24);

    /// Settings without a limit of fills.
    public GateSettings(Duration patience, int spread) {
        this(patience, spread, 0);
    }

    /// @throws IllegalArgumentException if the patience is not positive, the spread is less than 1, or the limit is
    ///     negative
    public GateSettings {
        if (patience.isNegative() || patience.isZero()) {
            throw new IllegalArgumentException("need at least 1 second");
        }
        if (spread < 1) {
            throw new IllegalArgumentException("need at least 1 node");
        }
        if (fillsInCluster < 0) {
            throw new IllegalArgumentException("need at least 1 fill, or 0 for no limit");
        }
    }

    /// Returns the maximum wait of this pod.
    Duration patience(GatedPod pod) {
        return pod.patience()
                .map(wish -> Collections.min(List.of(wish, LONGEST)))
                .orElse(patience);
    }

    /// Returns when this pod stops waiting.
    Instant end(GatedPod pod) {
        return pod.since().plus(patience(pod));
    }
}

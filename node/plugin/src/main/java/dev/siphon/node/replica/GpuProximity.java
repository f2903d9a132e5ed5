package dev.siphon.node.replica;

import java.time.Duration;

/// Limits the effort to place replicas near pods' devices.
///
/// @param patience how long a dataset's first fill waits for a pod to name the best directories; reads are not
///     slowed meanwhile
/// @param limit the deadline for finding a pod's best tree; afterwards the pod gets another tree
/// @param fillsSecond whether a dataset gets a second replica near a pod's devices if the first one is far away,
///     and no eviction is necessary
public record GpuProximity(Duration patience, Duration limit, boolean fillsSecond) {
    /// For nodes where pods' devices are unknown.
    public static final GpuProximity UNKNOWN = new GpuProximity(Duration.ZERO, Duration.ZERO, false);
}

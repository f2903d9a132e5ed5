package dev.siphon.node.replica;

import java.time.Duration;

/// How far replicas go to be near the devices of pods.
///
/// @param patience how long a dataset's first fill waits for a pod that says where it had better be; nothing is
///     read slower meanwhile
/// @param limit how long it may take to find the best tree for a pod; one that is not found by then reads another
/// @param fillsSecond whether a dataset whose replica is far from a pod's devices gets another one near them, if
///     there is room for it without evicting any
public record GpuProximity(Duration patience, Duration limit, boolean fillsSecond) {
    /// Nobody knows pods' devices.
    public static final GpuProximity UNKNOWN = new GpuProximity(Duration.ZERO, Duration.ZERO, false);
}

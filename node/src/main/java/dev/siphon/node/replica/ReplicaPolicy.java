package dev.siphon.node.replica;

import java.time.Duration;
import java.util.OptionalLong;

/// How fast and how patiently replicas are looked after.
///
/// @param chunksInFlight of one dataset, 4 MiB each
/// @param fillsAtOnce on this node
/// @param fillBytesPerSecond for all fills together; empty for no limit
/// @param scrubPeriod between two checks of an attached replica
/// @param scrubBytesPerSecond for all checks of attached replicas together; empty for no limit
/// @param callLimit for what the kernel is asked: to attach, to swap, to look at a disk
/// @param patience for the next chunk of a dataset that is read or written
/// @param firstRetry after a failure; doubled with each further one
/// @param longestRetry what it is doubled to at most
/// @param diskRetry how long a cache directory is left alone that is full or fails
public record ReplicaPolicy(
        int chunksInFlight,
        int fillsAtOnce,
        OptionalLong fillBytesPerSecond,
        Duration scrubPeriod,
        OptionalLong scrubBytesPerSecond,
        Duration callLimit,
        Duration patience,
        Duration firstRetry,
        Duration longestRetry,
        Duration diskRetry) {
    private static final long USUAL_SCRUB_RATE = 100L << 20;

    /// 8 chunks of 2 datasets; every attached replica is checked once a day at 100 MiB/s.
    public static ReplicaPolicy usual() {
        return new ReplicaPolicy(
                8,
                2,
                OptionalLong.empty(),
                Duration.ofDays(1),
                OptionalLong.of(USUAL_SCRUB_RATE),
                Duration.ofSeconds(30),
                Duration.ofSeconds(60),
                Duration.ofSeconds(1),
                Duration.ofMinutes(5),
                Duration.ofMinutes(10));
    }
}

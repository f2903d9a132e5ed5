package dev.siphon.node.replica;

import java.time.Duration;
import java.util.OptionalLong;

/// Rates, timeouts and retry delays for replicas.
///
/// @param chunksInFlight concurrent chunks of one dataset, 4 MiB each
/// @param fillsAtOnce concurrent fills on this node
/// @param fillBytesPerSecond the limit for all fills together; empty for none
/// @param scrubPeriod the time between two checks of an attached replica
/// @param scrubBytesPerSecond the limit for all checks of attached replicas together; empty for none
/// @param callLimit the deadline of a call that may hang in the kernel: attach, switch, access a disk
/// @param patience how long to wait for the next chunk to be read or written
/// @param firstRetry the delay after the first failure; it doubles with each further one
/// @param longestRetry the upper bound of that delay
/// @param diskRetry how long to avoid a cache directory that is full or fails
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
    /// The least rate of fills and of checks: a chunk of 4 MiB, and all those in flight, must pass within `patience`.
    public static final long LEAST_RATE = 1L << 20;

    private static final long USUAL_SCRUB_RATE = 100L << 20;

    /// Returns the defaults: 8 chunks per dataset, 2 concurrent fills, and a daily check of attached replicas at
    /// 100 MiB/s.
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

    /// Returns the same policy with an administrator's limits for this node.
    ///
    /// @param fillRate bytes per second for all fills together; empty for none
    /// @param scrubRate bytes per second for all checks of attached replicas together; empty for none
    /// @throws IllegalArgumentException if there may be no fill, or a rate is below [#LEAST_RATE]
    public ReplicaPolicy limited(int fills, OptionalLong fillRate, OptionalLong scrubRate) {
        return new ReplicaPolicy(
                chunksInFlight,
                fills,
                fillRate,
                scrubPeriod,
                scrubRate,
                callLimit,
                patience,
                firstRetry,
                longestRetry,
                diskRetry);
    }
}

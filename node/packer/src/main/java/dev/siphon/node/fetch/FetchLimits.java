package dev.siphon.node.fetch;

import java.time.Duration;

/// The timeouts and retries of a download.
///
/// @param connect the timeout of a connection
/// @param stall the timeout of the response, and then between two pieces of data
/// @param attempts how many failures in a row end the download
/// @param pause after the first failure; doubles after each further one
/// @param minBytesPerSecond the average over `stall` that a server has to reach; 0 for none
public record FetchLimits(Duration connect, Duration stall, int attempts, Duration pause, long minBytesPerSecond) {
    public static final FetchLimits USUAL =
            new FetchLimits(Duration.ofSeconds(30), Duration.ofSeconds(60), 6, Duration.ofSeconds(1), 0);

    /// @param bytes the minimum per second
    public FetchLimits withMinBytesPerSecond(long bytes) {
        return new FetchLimits(connect, stall, attempts, pause, bytes);
    }

    /// @param failures in a row, at least 1
    Duration pauseAfter(int failures) {
        return pause.multipliedBy(1L << Math.min(failures - 1, 16));
    }
}

package dev.siphon.node.fetch;

import java.time.Duration;

/// The timeouts and retries of a download.
///
/// @param connect the timeout of a connection
/// @param stall the timeout of the response, and then between two pieces of data
/// @param attempts how many failures in a row end the download
/// @param pause after the first failure; doubles after each further one
public record FetchLimits(Duration connect, Duration stall, int attempts, Duration pause) {
    public static final FetchLimits USUAL =
            new FetchLimits(Duration.ofSeconds(30), Duration.ofSeconds(60), 6, Duration.ofSeconds(1));

    /// @param failures in a row, at least 1
    Duration pauseAfter(int failures) {
        return pause.multipliedBy(1L << Math.min(failures - 1, 16));
    }
}

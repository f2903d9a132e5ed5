package dev.siphon.node.fetch;

import java.time.Duration;

/// How long a server is waited for.
///
/// @param connect for a connection
/// @param stall for an answer, and then for each next byte
/// @param attempts how often in a row nothing comes of it until it is given up
/// @param pause after the first such time; twice as long after each next
public record FetchLimits(Duration connect, Duration stall, int attempts, Duration pause) {
    public static final FetchLimits USUAL =
            new FetchLimits(Duration.ofSeconds(30), Duration.ofSeconds(60), 6, Duration.ofSeconds(1));

    /// @param failures in a row, at least 1
    Duration pauseAfter(int failures) {
        return pause.multipliedBy(1L << Math.min(failures - 1, 16));
    }
}

package dev.siphon.node.fetch;

import dev.siphon.node.fetch.FetchFailure.Reason;
import java.time.Duration;

/// Refuses a server that keeps a connection with a byte now and then. Counts only the time spent waiting for it.
final class Pace {
    private final String shown;
    private final FetchLimits limits;
    private Duration waited = Duration.ZERO;
    private long bytes;

    /// @param shown the address for people
    Pace(String shown, FetchLimits limits) {
        this.shown = shown;
        this.limits = limits;
    }

    /// Adds bytes, and how long they took.
    ///
    /// @throws FetchFailure TooSlow if the average since the last check is too low
    void received(long count, Duration took) {
        bytes += count;
        waited = waited.plus(took);
        if (waited.compareTo(limits.stall()) < 0) {
            return;
        }
        long perSecond = bytes * 1000 / Math.max(1, waited.toMillis());
        if (perSecond < limits.minBytesPerSecond()) {
            throw new FetchFailure(
                    Reason.TOO_SLOW,
                    shown + " sends " + perSecond + " bytes per second, and " + limits.minBytesPerSecond()
                            + " is the minimum: use another server");
        }
        bytes = 0;
        waited = Duration.ZERO;
    }
}

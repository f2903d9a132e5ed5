package dev.siphon.node.chunk;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/// Limits the rate of all transfers that share this object.
public final class Bandwidth {
    private final OptionalLong bytesPerSecond;
    private long free = Long.MIN_VALUE;

    /// @param bytesPerSecond the maximum rate; empty for no limit
    public Bandwidth(OptionalLong bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
    }

    /// Reserves the time to move `bytes`.
    ///
    /// @param now the current [System#nanoTime]
    /// @return how many nanoseconds to wait before moving them
    synchronized long reserve(long bytes, long now) {
        if (bytesPerSecond.isEmpty()) {
            return 0;
        }
        long begin = free == Long.MIN_VALUE ? now : Math.max(free, now);
        free = begin + (long) (bytes * (double) TimeUnit.SECONDS.toNanos(1) / bytesPerSecond.getAsLong());
        return begin - now;
    }
}

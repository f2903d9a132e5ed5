package dev.siphon.controller.identity;

import java.time.Duration;

/// The limits of [CachedAccountDirectory].
///
/// @param fresh how long an account serves without another lookup
/// @param stale how long it serves while the directory does not answer; at least `fresh`
/// @param entries how many accounts are cached; the least recently used is evicted
/// @param patience how long a caller waits for the directory
public record DirectoryCacheLimits(Duration fresh, Duration stale, int entries, Duration patience) {
    public DirectoryCacheLimits {
        if (fresh.isNegative() || stale.compareTo(fresh) < 0 || entries < 1 || !patience.isPositive()) {
            throw new IllegalArgumentException("the stale time must not be shorter than the fresh time (" + stale + ", "
                    + fresh + "), and at least one entry is kept");
        }
    }
}

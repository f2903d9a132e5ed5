package dev.siphon.controller.identity;

import java.time.Duration;

/// How long what a directory said is used, see [CachedAccountDirectory].
///
/// @param fresh how long an answer is used without asking again
/// @param stale how long it is used while the directory does not answer; not shorter than `fresh`
/// @param entries how many accounts are kept, the least recently used go
/// @param patience how long a caller waits for the directory
public record DirectoryCacheLimits(Duration fresh, Duration stale, int entries, Duration patience) {
    public DirectoryCacheLimits {
        if (fresh.isNegative() || stale.compareTo(fresh) < 0 || entries < 1 || !patience.isPositive()) {
            throw new IllegalArgumentException("the stale time must not be shorter than the fresh time (" + stale + ", "
                    + fresh + "), and at least one entry is kept");
        }
    }
}

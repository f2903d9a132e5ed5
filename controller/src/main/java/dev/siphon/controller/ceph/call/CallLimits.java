package dev.siphon.controller.ceph.call;

import java.time.Duration;

/// How long native calls may take, and how many run at once.
///
/// @param slots calls at once per handle; each holds one platform thread
/// @param patience how long a caller waits for one call, its own deadline permitting
/// @param silence how old a call must be, with no answer to anything on its handle since it began, before the
///     handle is dropped
/// @param lost how old a call must be before its handle is dropped although other calls were answered: its
///     answer went missing
/// @param connect how long librados waits for a mon to answer while connecting; it tries some ten times
/// @param spareHandles how many dropped handles whose calls have not returned may exist at once per cluster;
///     beyond, callers are refused instead
public record CallLimits(
        int slots, Duration patience, Duration silence, Duration lost, Duration connect, int spareHandles) {
    /// For production: a name that is locked by a lost call is free 50 s after that call began.
    public static final CallLimits DEFAULT = new CallLimits(
            32, Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofSeconds(50), Duration.ofSeconds(3), 3);
}

package dev.siphon.controller.ceph.call;

import java.time.Duration;

/// Limits how long native calls may take and how many run at once.
///
/// @param slots concurrent calls per handle; each occupies one platform thread
/// @param patience how long a caller waits for one call, unless its own deadline is shorter
/// @param silence drops a handle if a call is this old and no call on the handle has returned since it began
/// @param lost drops a handle if a call is this old although other calls returned: its reply is lost
/// @param connect how long librados waits for a mon to reply while connecting; it tries about ten times
/// @param spareHandles maximum number of dropped handles per connection whose calls have not returned; at the
///     limit none is dropped, and callers are refused instead
public record CallLimits(
        int slots, Duration patience, Duration silence, Duration lost, Duration connect, int spareHandles) {
    /// For production: the lock of a lost call is free 50 s after the call began.
    public static final CallLimits DEFAULT = new CallLimits(
            32, Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofSeconds(50), Duration.ofSeconds(3), 3);
}

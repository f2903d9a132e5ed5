package dev.siphon.csi.server;

import io.grpc.Context;
import io.grpc.Deadline;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// The time that is left for the RPC on this thread.
///
/// @param whenNone the time for an RPC without a deadline; CSI sidecars set one (`--timeout`), people at a debug
///     client often do not
public record Deadlines(Duration whenNone) {
    /// Reserved so that the reply arrives before the caller's deadline passes.
    private static final Duration RESERVE = Duration.ofMillis(200);

    public Deadlines {
        if (!whenNone.isPositive()) {
            throw new IllegalArgumentException("the default time for an RPC must be positive, not " + whenNone);
        }
    }

    /// Returns the time left for the work of this RPC: the caller's remaining time, minus 200 ms or a tenth of it,
    /// whichever is shorter. Zero if the deadline has passed.
    public Duration remaining() {
        Deadline deadline = Context.current().getDeadline();
        if (deadline == null) {
            return whenNone;
        }
        Duration left = Duration.ofNanos(Math.max(0, deadline.timeRemaining(TimeUnit.NANOSECONDS)));
        Duration tenth = left.dividedBy(10);
        return left.minus(tenth.compareTo(RESERVE) < 0 ? tenth : RESERVE);
    }

    /// Checks whether the caller has gone or its deadline has passed, so that no one waits for the reply.
    public static boolean callerGone() {
        return Context.current().isCancelled();
    }
}

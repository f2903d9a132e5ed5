package dev.siphon.csi.server;

import io.grpc.Context;
import io.grpc.Deadline;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// How long the RPC that runs on this thread may still take.
///
/// @param whenNone the time for an RPC whose caller set no deadline; CSI sidecars set one (`--timeout`), people
///     at a debug client often do not
public record Deadlines(Duration whenNone) {
    /// Kept back so that the answer reaches the caller before the caller's own clock runs out.
    private static final Duration RESERVE = Duration.ofMillis(200);

    public Deadlines {
        if (!whenNone.isPositive()) {
            throw new IllegalArgumentException("the default time for an RPC must be positive, not " + whenNone);
        }
    }

    /// The time left for the work of this RPC: the caller's deadline less 200 ms, or less a tenth of what is left
    /// where that is shorter; zero when it has passed.
    public Duration remaining() {
        Deadline deadline = Context.current().getDeadline();
        if (deadline == null) {
            return whenNone;
        }
        Duration left = Duration.ofNanos(Math.max(0, deadline.timeRemaining(TimeUnit.NANOSECONDS)));
        Duration tenth = left.dividedBy(10);
        return left.minus(tenth.compareTo(RESERVE) < 0 ? tenth : RESERVE);
    }

    /// Whether the caller of this RPC has gone, or its deadline has passed, so that no answer is awaited.
    public static boolean callerGone() {
        return Context.current().isCancelled();
    }
}

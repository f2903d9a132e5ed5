package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/// Tracks the running calls about accounts' directories. All accounts share the call slots. So an account may not
/// start more calls while the MDS leaves [#MOST] of its calls unanswered for longer than any caller waits.
final class OutstandingCalls {
    static final int MOST = 4;

    /// How long a caller waits.
    static final Duration LONG = Duration.ofSeconds(30);

    private final LongSupplier nanoTime;
    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, Call> underWay = new ConcurrentHashMap<>();

    private record Call(SubvolumeGroup owner, long begun) {}

    /// @param nanoTime a clock like [System#nanoTime]
    OutstandingCalls(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /// Runs a call.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if too many of its owner's calls are unanswered; the
    ///     call does not start
    <T> T run(SubvolumeGroup owner, Supplier<T> call) {
        long now = nanoTime.getAsLong();
        long kept = underWay.values().stream()
                .filter(each -> each.owner().equals(owner) && now - each.begun() > LONG.toNanos())
                .count();
        if (kept >= MOST) {
            throw new DriverException.OperationPending("the MDS has not answered " + kept + " earlier calls about "
                    + owner.path() + ": a client holds directories there and does not answer; retry");
        }
        long number = numbers.incrementAndGet();
        underWay.put(number, new Call(owner, now));
        try {
            return call.get();
        } finally {
            underWay.remove(number);
        }
    }
}

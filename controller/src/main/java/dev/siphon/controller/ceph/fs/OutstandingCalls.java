package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/// Calls about accounts' directories that are under way. Each takes one of those that all accounts have
/// together; so an account some of whose calls the MDS keeps, for longer than anybody waits, begins no more.
final class OutstandingCalls {
    static final int MOST = 4;

    /// As long as a caller waits.
    static final Duration LONG = Duration.ofSeconds(30);

    private final LongSupplier nanoTime;
    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, Call> underWay = new ConcurrentHashMap<>();

    private record Call(SubvolumeGroup owner, long begun) {}

    /// @param nanoTime a clock as [System#nanoTime]
    OutstandingCalls(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /// Makes a call.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if too many of its owner have no answer; it is not
    ///     begun
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

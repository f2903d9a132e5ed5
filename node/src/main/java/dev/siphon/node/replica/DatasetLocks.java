package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.SharedValues;
import dev.siphon.node.mount.SystemErrors;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/// One change of a dataset's attachment at a time. Others wait for their turn, up to a limit, rather than being
/// told to come back: many pods of one dataset start in the same moment, and each change takes milliseconds.
///
/// A turn belongs to the change and not to its caller: one that hangs in the kernel keeps it when its caller has
/// left.
final class DatasetLocks {
    private final BlockingCalls calls;
    private final Duration limit;
    private final SharedValues<Digest, Semaphore> turns =
            new SharedValues<>(_ -> new Semaphore(1, true), turn -> turn.availablePermits() == 0);

    DatasetLocks(BlockingCalls calls, Duration limit) {
        this.calls = calls;
        this.limit = limit;
    }

    /// Runs `change` on a thread that may hang, as the only one for `dataset`.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if the change before has not ended within the limit
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if this one has not; it goes on
    <T> T take(Digest dataset, Supplier<T> change) {
        return take(dataset, limit, change);
    }

    /// The same, with another limit.
    <T> T take(Digest dataset, Duration limit, Supplier<T> change) {
        return turns.use(dataset, turn -> take(dataset, turn, limit, change));
    }

    private <T> T take(Digest dataset, Semaphore turn, Duration limit, Supplier<T> change) {
        await(dataset, turn, limit);
        AtomicBoolean begun = new AtomicBoolean();
        try {
            // whoever releases a turn uses it: its caller may have left
            return calls.change(
                    "dataset " + dataset,
                    limit,
                    () -> turns.use(dataset, _ -> {
                        begun.set(true);
                        try {
                            return change.get();
                        } finally {
                            turn.release();
                        }
                    }));
        } catch (DriverException.BackendUnavailable e) {
            if (!begun.get()) {
                turn.release(); // refused, so it never runs
            }
            throw e;
        } catch (ErrnoException e) {
            throw SystemErrors.translate("dataset " + dataset, e);
        } catch (UncheckedIOException e) {
            throw new DriverException.BackendFault("dataset " + dataset + ": " + e.getMessage(), e);
        }
    }

    private static void await(Digest dataset, Semaphore turn, Duration limit) {
        try {
            if (turn.tryAcquire(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        throw new DriverException.OperationPending(
                "dataset " + dataset + " is still being attached, swapped or detached; retry when that has ended");
    }
}

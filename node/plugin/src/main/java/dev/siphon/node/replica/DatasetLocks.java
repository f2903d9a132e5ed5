package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.SystemErrors;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.SharedValues;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/// Serializes the changes to a dataset's image mounts. Callers wait up to a limit instead of failing at once. Many
/// pods of one dataset start at the same moment, and each change takes milliseconds.
///
/// The change holds the lock, not its caller: a change that hangs in the kernel keeps the lock after its caller has
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

    /// Runs `change` on a thread that may hang, while holding the lock of `dataset`.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if the previous change has not ended within the limit
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if this change has not ended; it continues
    <T> T take(Digest dataset, Supplier<T> change) {
        return take(dataset, limit, change);
    }

    /// Runs `change` as [#take] does, with another limit.
    <T> T take(Digest dataset, Duration limit, Supplier<T> change) {
        return turns.use(dataset, turn -> take(dataset, turn, limit, change));
    }

    private <T> T take(Digest dataset, Semaphore turn, Duration limit, Supplier<T> change) {
        await(dataset, turn, limit);
        AtomicBoolean begun = new AtomicBoolean();
        try {
            // the change releases the lock, and needs its own reference: the caller may have left
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
                turn.release(); // rejected, so it never runs
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
                "dataset " + dataset + " is still being attached, switched or detached; retry when that has ended");
    }
}

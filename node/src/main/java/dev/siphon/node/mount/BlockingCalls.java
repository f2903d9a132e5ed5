package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/// Runs what may hang in the kernel on platform threads, so that a caller gets an answer in time whatever a file
/// system does. A native call can neither be cancelled nor run on a virtual thread without stopping others.
///
/// Why one volume that hangs leaves the others alone: each volume may have [#MAX_PER_VOLUME] calls under way, and
/// the pool has room for that many of every volume that a node can hold, so the pool runs out last. Threads are
/// made when needed and end when idle.
public final class BlockingCalls implements AutoCloseable {
    /// One change, which the volume's key admits, with the check that the change makes; and checks of two older
    /// mounts of the same volume that never answered.
    private static final int MAX_PER_VOLUME = 4;

    /// For 256 volumes, above the 110 pods that a kubelet runs by default.
    private static final int MAX_THREADS = 256 * MAX_PER_VOLUME;

    private static final Duration IDLE = Duration.ofSeconds(10);

    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            0,
            MAX_THREADS,
            IDLE.toMillis(),
            TimeUnit.MILLISECONDS,
            new SynchronousQueue<>(),
            Thread.ofPlatform().daemon().name("mount-", 0).factory());
    private final Map<String, Integer> underWay = new ConcurrentHashMap<>();
    private final Map<String, CompletableFuture<?>> checks = new ConcurrentHashMap<>();

    /// Runs `body`, which changes something. Keys that this thread's [KeyedOperations] hold stay taken until it
    /// has ended, even if this returns earlier.
    ///
    /// @param volume whose calls to count it among
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if it has not ended within `limit`; it goes on
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if too many earlier calls for the volume
    ///     still hang
    public <T> T change(String volume, Duration limit, Supplier<T> body) {
        CompletableFuture<T> call = new CompletableFuture<>();
        start(volume, body, call, () -> {});
        KeyedOperations.outlive(call);
        return await(volume, call, limit);
    }

    /// As [#change(String, Duration, Supplier)], without a result.
    public void change(String volume, Duration limit, Runnable body) {
        change(volume, limit, () -> {
            body.run();
            return volume;
        });
    }

    /// Runs `body`, which only looks, or waits for the same look that another caller has begun. It holds no key:
    /// a volume whose check hangs can be unmounted.
    ///
    /// @param subject what is looked at; calls of one subject share one run
    /// @throws DriverException as [#change]
    public <T> T check(String volume, String subject, Duration limit, Supplier<T> body) {
        CompletableFuture<T> own = new CompletableFuture<>();
        @SuppressWarnings("unchecked") // a subject is always looked at in the same way
        CompletableFuture<T> other = (CompletableFuture<T>) checks.putIfAbsent(subject, own);
        if (other != null) {
            return await(volume, other, limit);
        }
        try {
            start(volume, body, own, () -> checks.remove(subject, own));
        } catch (DriverException e) {
            checks.remove(subject, own);
            own.completeExceptionally(e);
            throw e;
        }
        return await(volume, own, limit);
    }

    private <T> void start(String volume, Supplier<T> body, CompletableFuture<T> call, Runnable atEnd) {
        int now = underWay.merge(volume, 1, Integer::sum);
        try {
            if (now > MAX_PER_VOLUME) {
                throw new RejectedExecutionException("too many for one volume");
            }
            threads.execute(() -> run(body, call, () -> {
                release(volume);
                atEnd.run();
            }));
        } catch (RejectedExecutionException _) {
            release(volume);
            throw new DriverException.BackendUnavailable(
                    "earlier calls to the file system of " + volume + " have not returned; retry when they have");
        }
    }

    private static <T> void run(Supplier<T> body, CompletableFuture<T> call, Runnable atEnd) {
        try {
            T value = body.get();
            atEnd.run();
            call.complete(value);
        } catch (RuntimeException | Error e) {
            atEnd.run();
            call.completeExceptionally(e);
        }
    }

    private void release(String volume) {
        underWay.computeIfPresent(volume, (_, count) -> count == 1 ? null : count - 1);
    }

    private static <T> T await(String volume, CompletableFuture<T> call, Duration limit) {
        try {
            return call.get(Math.max(0, limit.toNanos()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException _) {
            throw new DriverException.DeadlinePassed(
                    "the file system of " + volume + " has not answered within " + limit.toMillis() + " ms");
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.DeadlinePassed("interrupted while waiting for the file system of " + volume);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Error failure) {
                throw failure;
            }
            throw e.getCause() instanceof RuntimeException failure ? failure : new IllegalStateException(e);
        }
    }

    /// How many calls are under way, for metrics and tests.
    public int underWay() {
        return underWay.values().stream().mapToInt(Integer::intValue).sum();
    }

    /// Takes no more calls. Those that hang are left: their threads end with the process.
    @Override
    public void close() {
        threads.shutdown();
    }
}

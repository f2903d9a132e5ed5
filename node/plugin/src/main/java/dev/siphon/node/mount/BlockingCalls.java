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

/// Runs calls that may hang in the kernel on platform threads, so that callers return by their deadline. A native
/// call cannot be cancelled, and on a virtual thread it would block others.
///
/// A hung volume does not affect other volumes. Each volume may have [#MAX_PER_VOLUME] calls in progress. The pool
/// has that many threads for each volume that a node can hold. Threads start on demand and end when idle.
public final class BlockingCalls implements AutoCloseable {
    /// One change (the volume's lock admits no more) with the check that it makes, plus hung checks of two older
    /// mounts of the volume.
    private static final int MAX_PER_VOLUME = 4;

    /// 256 volumes: above the kubelet's default of 110 pods.
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

    /// Runs `body`, which changes something. The locks that this thread holds in [KeyedOperations] stay held until
    /// `body` returns, even if this method returns earlier.
    ///
    /// @param volume the volume that the call counts against
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if `body` has not returned within `limit`; it
    ///     keeps running
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if too many earlier calls for the volume still hang
    public <T> T change(String volume, Duration limit, Supplier<T> body) {
        CompletableFuture<T> call = new CompletableFuture<>();
        start(volume, body, call, () -> {});
        KeyedOperations.outlive(call);
        return await(volume, call, limit);
    }

    /// Same as [#change(String, Duration, Supplier)], without a result.
    public void change(String volume, Duration limit, Runnable body) {
        change(volume, limit, () -> {
            body.run();
            return volume;
        });
    }

    /// Runs `body`, which only reads. If another caller already runs a check of `subject`, waits for its result
    /// instead. A check takes no lock, so a volume whose check hangs can still be unmounted.
    ///
    /// @param subject what is checked; concurrent calls with the same subject share one run
    /// @throws DriverException as [#change]
    public <T> T check(String volume, String subject, Duration limit, Supplier<T> body) {
        CompletableFuture<T> own = new CompletableFuture<>();
        @SuppressWarnings("unchecked") // a subject always has the same result type
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

    /// Returns the number of calls in progress, for metrics and tests.
    public int underWay() {
        return underWay.values().stream().mapToInt(Integer::intValue).sum();
    }

    /// Accepts no more calls. Hung calls keep their threads until the process exits.
    @Override
    public void close() {
        threads.shutdown();
    }
}

package dev.siphon.controller.ceph.call;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/// Runs the native calls on one handle, each on a platform thread: a native call pins the carrier of a virtual
/// thread and cannot be cancelled. At its deadline the caller leaves, but the call goes on. The locks of the
/// caller's operation stay held until the call returns or is given up as lost ([#giveUpLost]).
///
/// A retired handle accepts no further call. It is closed after its last call has returned, never before: Ceph's
/// libraries crash if a handle is closed while in use.
public final class NativeCalls {
    private static final Duration IDLE_THREAD = Duration.ofSeconds(20);

    private final String cluster;
    private final CallLimits limits;
    private final CephMetrics metrics;
    private final Semaphore slots;
    private final ExecutorService threads;
    private final Set<Call> outstanding = ConcurrentHashMap.newKeySet();
    private final CompletableFuture<Void> drained = new CompletableFuture<>();
    private volatile long answeredAt = System.nanoTime();
    private int inside;
    private boolean retired;

    /// @param name prefix of the threads' names
    public NativeCalls(String name, String cluster, CallLimits limits, CephMetrics metrics) {
        this.cluster = cluster;
        this.limits = limits;
        this.metrics = metrics;
        this.slots = new Semaphore(limits.slots());
        // The semaphore limits the calls. A thread that has released its slot may not be back in the pool yet, so
        // the pool must be able to start one more.
        this.threads = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                IDLE_THREAD.toSeconds(),
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                NativeThreads.numbered(name + "-").factory());
    }

    /// Runs `body` on its own thread and waits for it.
    ///
    /// @param what the request and its target, for messages
    /// @param patience how long the caller waits for a free slot and the call together
    /// @return empty if this handle is retired; `body` has not run then
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if the call did not return in time; it goes on
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if no slot became free in time, and `body` has
    ///     not run; or if this thread was interrupted
    public <T> Optional<T> run(String what, Duration patience, Supplier<T> body) {
        if (!enter()) {
            return Optional.empty();
        }
        long deadline = System.nanoTime() + patience.toNanos();
        try {
            takeSlot(what, patience);
        } catch (DriverException e) {
            releaseSlot();
            throw e;
        }
        Call call = new Call(new CompletableFuture<>(), new CompletableFuture<>(), System.nanoTime());
        outstanding.add(call);
        metrics.inFlight(cluster, 1);
        CompletableFuture<T> result = CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return body.get();
                    } finally {
                        // Before the caller gets the result: it may then check whether the handle is idle.
                        returned(call);
                    }
                },
                threads);
        return Optional.of(await(what, call, result, deadline));
    }

    private <T> T await(String what, Call call, CompletableFuture<T> result, long deadline) {
        try {
            return result.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException _) {
            throw left(
                    call,
                    new DriverException.DeadlinePassed(
                            what + " has not been answered in time and may still take effect; retry"));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw left(
                    call,
                    new DriverException.BackendUnavailable(what + " was interrupted and may still take effect; retry"));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(what, e.getCause());
        }
    }

    private static DriverException left(Call call, DriverException error) {
        call.callerLeft().complete(null);
        KeyedOperations.outlive(call.ended());
        return error;
    }

    private void takeSlot(String what, Duration patience) {
        try {
            // If all callers have left their calls, waiting would most likely only waste this caller's time.
            boolean hopeless = slots.availablePermits() == 0
                    && outstanding.stream().allMatch(call -> call.callerLeft().isDone());
            if (hopeless || !slots.tryAcquire(Math.max(0, patience.toNanos()), TimeUnit.NANOSECONDS)) {
                throw new DriverException.BackendUnavailable(
                        what + " was not started: all " + limits.slots() + " slots for calls are in use; retry");
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable(what + " was not started: interrupted");
        }
    }

    private void returned(Call call) {
        answeredAt = System.nanoTime();
        outstanding.remove(call);
        metrics.inFlight(cluster, -1);
        slots.release();
        call.ended().complete(null);
        releaseSlot();
    }

    private synchronized boolean enter() {
        if (retired) {
            return false;
        }
        inside++;
        return true;
    }

    private void releaseSlot() {
        boolean last;
        synchronized (this) {
            inside--;
            last = retired && inside == 0;
        }
        if (last) {
            close();
        }
    }

    /// Rejects further calls.
    ///
    /// @return completes when the last call has returned; then the caller may close the handle
    public CompletableFuture<Void> retire() {
        boolean last;
        synchronized (this) {
            last = !retired && inside == 0;
            retired = true;
        }
        if (last) {
            close();
        }
        return drained;
    }

    private void close() {
        threads.shutdown();
        drained.complete(null);
    }

    /// Releases the locks of operations whose callers have left and whose calls, by the limits, will not return.
    /// The calls keep their threads.
    ///
    /// @return whether there were such calls; if so, replace this handle
    public boolean giveUpLost() {
        long now = System.nanoTime();
        List<Call> lost = new ArrayList<>();
        for (Call call : outstanding) {
            long age = now - call.began();
            boolean silent =
                    answeredAt - call.began() < 0 && age > limits.silence().toNanos();
            if (call.callerLeft().isDone() && (silent || age > limits.lost().toNanos())) {
                lost.add(call);
            }
        }
        lost.forEach(call -> call.ended().complete(null));
        return !lost.isEmpty();
    }

    /// Returns the number of calls that have not returned.
    public int outstanding() {
        return outstanding.size();
    }

    /// A call that has not returned.
    ///
    /// @param ended completes when the call returns or is given up
    /// @param callerLeft completes when the caller leaves
    /// @param began start time by [System#nanoTime]
    private record Call(CompletableFuture<Void> ended, CompletableFuture<Void> callerLeft, long began) {}
}

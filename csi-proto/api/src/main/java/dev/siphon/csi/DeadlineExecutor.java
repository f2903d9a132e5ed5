package dev.siphon.csi;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Runs calls that nobody can cancel, such as system calls and calls of Ceph's libraries, on platform
/// threads, so that their callers can leave at a deadline. On a virtual thread such a call would block
/// others.
///
/// A call that outlives its caller continues, on its thread and in its place among the limits. The
/// locks that the caller held in [KeyedOperations] stay held until the call returns, or is given up
/// ([#giveUpLost]). While a call runs, the name of its thread says what it is. Thread-safe.
public final class DeadlineExecutor implements AutoCloseable {
    private static final Duration IDLE = Duration.ofSeconds(10);

    /// How often a caller that waits for a place looks whether that is in vain.
    private static final Duration LOOK = Duration.ofMillis(500);

    private final int most;
    private final int mostOfOwner;
    private final Semaphore places;
    private final ThreadPoolExecutor threads;
    private final Map<String, Integer> owners = new ConcurrentHashMap<>();
    private final Map<String, Call<?>> checks = new ConcurrentHashMap<>();
    private final Set<Call<?>> underWay = ConcurrentHashMap.newKeySet();
    private final CompletableFuture<Void> drained = new CompletableFuture<>();
    private volatile long answeredAt = System.nanoTime();
    private volatile boolean closed;

    private static final class Call<T> {
        private final String owner;
        private final String what;
        private final CompletableFuture<T> result = new CompletableFuture<>();

        /// Completes when the call returns or is given up.
        private final CompletableFuture<Boolean> ended = new CompletableFuture<>();

        /// The number of callers that wait for the call.
        private final AtomicInteger callers = new AtomicInteger(1);

        private volatile long began = System.nanoTime();

        /// Whether there was no place for the call, so that it never began.
        private volatile boolean refused;

        Call(String owner, String what) {
            this.owner = owner;
            this.what = what;
        }

        boolean isAbandoned() {
            return callers.get() == 0;
        }
    }

    /// @param threads makes daemon threads, which start on demand and end when idle
    /// @param most maximum number of calls in progress; further ones wait
    /// @param mostOfOwner maximum number for one owner, so that one that hangs leaves places for
    ///     others; further ones are refused at once
    public DeadlineExecutor(ThreadFactory threads, int most, int mostOfOwner) {
        this.most = most;
        this.mostOfOwner = mostOfOwner;
        this.places = new Semaphore(most);
        // The semaphore limits the calls. A thread that has freed its place may not be back in the pool
        // yet, so the pool must be able to start one more.
        this.threads = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE.toMillis(), TimeUnit.MILLISECONDS, new SynchronousQueue<>(), threads);
    }

    /// Runs `body`, which may change something, and waits for it.
    ///
    /// @param owner whom the call counts against
    /// @param what the subject of the call, for messages and the thread's name
    /// @param limit how long the caller waits for a place and the call together
    /// @return empty if this executor is closed; `body` has not run then
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if `body` has not returned in time,
    ///     or the caller was interrupted; it continues
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if there is no place for the call;
    ///     `body` has not run
    public <T> Optional<T> run(String owner, String what, Duration limit, Supplier<T> body) {
        long asked = System.nanoTime();
        Call<T> call = new Call<>(owner, what);
        return start(call, limit, body)
                ? Optional.of(await(List.of(call), call.result, limit, () -> asked, true))
                : Optional.empty();
    }

    /// Runs `body`, which only reads. If a check of the same subject runs already, waits for its result
    /// instead. If that one finds no place, this caller tries for itself: it may wait longer, and is
    /// told why its own check did not start. A check keeps no locks, so what hangs can still be
    /// unmounted.
    ///
    /// @param what the subject; its checks always have the same result type
    /// @throws DriverException as [#run]; UNAVAILABLE also if this executor is closed
    public <T> T check(String owner, String what, Duration limit, Supplier<T> body) {
        long asked = System.nanoTime();
        while (true) {
            Call<T> own = new Call<>(owner, what);
            @SuppressWarnings("unchecked") // a subject always has the same result type
            Call<T> running = (Call<T>) checks.putIfAbsent(what, own);
            if (running == null) {
                startCheck(own, limit.minusNanos(System.nanoTime() - asked), body);
                return await(List.of(own), own.result, limit, () -> asked, false);
            }
            running.callers.incrementAndGet();
            try {
                return await(List.of(running), running.result, limit, () -> asked, false);
            } catch (DriverException failed) {
                if (!running.refused) {
                    throw failed;
                }
            }
        }
    }

    private <T> void startCheck(Call<T> own, Duration limit, Supplier<T> body) {
        try {
            startOrThrow(own, limit, body);
        } catch (DriverException refusal) {
            own.refused = true;
            checks.remove(own.what, own);
            own.result.completeExceptionally(refusal);
            throw refusal;
        }
    }

    /// Runs `body` on several threads at once, and waits until all have ended.
    ///
    /// @param what as for [#run]; also the owner
    /// @param limit how long the caller waits without progress
    /// @param progress when a thread made progress last, by [System#nanoTime]
    /// @throws DriverException as [#check]; first of all, what one of the threads has thrown
    public void runOnEach(int count, String what, Duration limit, LongSupplier progress, Runnable body) {
        List<Call<Boolean>> calls = Stream.generate(() -> new Call<Boolean>(what, what))
                .limit(count)
                .toList();
        for (Call<Boolean> call : calls) {
            startOrThrow(call, limit, () -> {
                body.run();
                return true;
            });
        }
        CompletableFuture<?>[] results = calls.stream().map(call -> call.result).toArray(CompletableFuture[]::new);
        await(calls, CompletableFuture.allOf(results).thenApply(_ -> true), limit, progress, true);
    }

    private <T> void startOrThrow(Call<T> call, Duration limit, Supplier<T> body) {
        if (!start(call, limit, body)) {
            throw new DriverException.BackendUnavailable(call.what + ": not started, because the process stops");
        }
    }

    private <T> boolean start(Call<T> call, Duration limit, Supplier<T> body) {
        if (!takePlace(call.what, limit)) {
            return false;
        }
        call.began = System.nanoTime();
        underWay.add(call);
        boolean isWithinLimit = owners.merge(call.owner, 1, Integer::sum) <= mostOfOwner;
        boolean started = false;
        try {
            if (!closed && isWithinLimit) {
                threads.execute(() -> work(call, body));
                started = true;
            }
        } catch (OutOfMemoryError noThread) { // a full heap ends the process
            throw new DriverException.BackendUnavailable(
                    call.what + ": not started, because the process cannot start a thread; retry", noThread);
        } finally {
            if (!started) {
                end(call);
            }
        }
        if (!isWithinLimit) {
            throw refused(call.what, mostOfOwner);
        }
        return started;
    }

    /// Waits for a place.
    ///
    /// @return false if this executor is closed
    private boolean takePlace(String what, Duration limit) {
        long asked = System.nanoTime();
        try {
            while (!closed) {
                // If all callers have left their calls, waiting would most likely only waste this caller's time.
                boolean hopeless = underWay.stream().filter(Call::isAbandoned).count() >= most;
                long left = limit.toNanos() - (System.nanoTime() - asked);
                if (!hopeless && places.tryAcquire(Math.clamp(left, 0, LOOK.toNanos()), TimeUnit.NANOSECONDS)) {
                    return true;
                }
                if (hopeless || left <= 0) {
                    throw refused(what, most);
                }
            }
            return false;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable(what + ": interrupted before it was started; retry");
        }
    }

    private static DriverException.BackendUnavailable refused(String what, int calls) {
        return new DriverException.BackendUnavailable(
                what + ": not started, because " + calls + " earlier calls have not returned; retry when they have");
    }

    private <T> void work(Call<T> call, Supplier<T> body) {
        String idle = Thread.currentThread().getName();
        Thread.currentThread().setName(idle + " " + call.what);
        Runnable report;
        try {
            T value = body.get();
            report = () -> call.result.complete(value);
        } catch (RuntimeException | Error e) {
            report = () -> call.result.completeExceptionally(e);
        }
        answeredAt = System.nanoTime();
        Thread.currentThread().setName(idle);
        // Before the caller gets the result: it may then check whether calls are in progress.
        end(call);
        report.run();
    }

    private void end(Call<?> call) {
        underWay.remove(call);
        owners.computeIfPresent(call.owner, (_, count) -> count == 1 ? null : count - 1);
        checks.remove(call.what, call); // not before: the next check would find this call's place taken
        places.release();
        call.ended.complete(true);
        drain();
    }

    private static <T> T await(
            List<Call<T>> calls, CompletableFuture<T> result, Duration limit, LongSupplier since, boolean keepsLocks) {
        try {
            return get(result, limit, since);
        } catch (TimeoutException _) {
            RuntimeException late = left(calls, keepsLocks, " gave no answer within " + limit.toMillis() + " ms");
            throw calls.stream()
                    .map(call -> call.result)
                    .filter(CompletableFuture::isCompletedExceptionally)
                    .map(failed -> thrown(failed.exceptionNow()))
                    .findFirst()
                    .orElse(late);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw left(calls, keepsLocks, ": interrupted before there was an answer");
        } catch (ExecutionException _) {
            throw thrown(result.exceptionNow());
        } finally {
            calls.forEach(call -> call.callers.decrementAndGet());
        }
    }

    private static <T> T get(CompletableFuture<T> result, Duration limit, LongSupplier since)
            throws TimeoutException, InterruptedException, ExecutionException {
        long began = since.getAsLong();
        while (true) {
            try {
                return result.get(limit.toNanos() - (System.nanoTime() - began), TimeUnit.NANOSECONDS);
            } catch (TimeoutException late) {
                if (began == since.getAsLong()) {
                    throw late;
                }
                began = since.getAsLong();
            }
        }
    }

    private static <T> DriverException left(List<Call<T>> calls, boolean keepsLocks, String why) {
        if (keepsLocks) {
            calls.forEach(call -> KeyedOperations.outlive(call.ended));
        }
        return new DriverException.DeadlinePassed(
                calls.getFirst().what + why + (keepsLocks ? " and may still take effect; retry" : "; retry"));
    }

    private static RuntimeException thrown(Throwable cause) {
        return switch (cause) {
            case RuntimeException failure -> failure;
            case Error failure -> throw failure;
            default -> new IllegalStateException(cause);
        };
    }

    /// Frees the locks of calls that nobody waits for and that will not return. They keep their threads.
    ///
    /// @param silence gives up a call that is this old if none has returned since it began
    /// @param lost gives up a call that is this old although others have returned
    /// @return whether there were such calls
    public boolean giveUpLost(Duration silence, Duration lost) {
        long now = System.nanoTime();
        List<Call<?>> given = underWay.stream()
                .filter(Call::isAbandoned)
                .filter(call -> {
                    Duration age = Duration.ofNanos(now - call.began);
                    boolean silent = answeredAt - call.began < 0 && age.compareTo(silence) > 0;
                    return silent || age.compareTo(lost) > 0;
                })
                .toList();
        given.forEach(call -> call.ended.complete(true));
        return !given.isEmpty();
    }

    /// Returns the number of calls that have not returned, those included whose callers have left.
    public int underWay() {
        return underWay.size();
    }

    /// Returns what completes when this executor is closed and its last call has returned.
    public CompletableFuture<Void> drained() {
        return drained;
    }

    /// Accepts no more calls, and waits for none. Hung calls keep their threads until the process exits.
    @Override
    public void close() {
        closed = true;
        drain();
    }

    private void drain() {
        if (closed && places.tryAcquire(most)) {
            threads.shutdown();
            drained.complete(null);
            places.release(most);
        }
    }
}

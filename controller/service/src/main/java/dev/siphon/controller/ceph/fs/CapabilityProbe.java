package dev.siphon.controller.ceph.fs;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// One request to an MDS whose reply several callers may wait for. It is a call of [CephFs] with its own
/// deadline, so the thread that waits for it needs no other.
final class CapabilityProbe {
    private final CompletableFuture<Optional<RuntimeException>> ended = new CompletableFuture<>();
    private final long made = System.nanoTime();
    private final String operation;
    private volatile Optional<Long> put = Optional.empty();
    private volatile boolean stalled;

    CapabilityProbe(String operation) {
        this.operation = operation;
    }

    String operation() {
        return operation;
    }

    /// Returns whether it was created at or after that time by [System#nanoTime].
    boolean isSince(long time) {
        return made - time >= 0;
    }

    /// Sends the request on a thread that belongs to no operation, so callers that leave keep no locks.
    ///
    /// @param threads starts such a thread
    /// @param after runs before the waiting callers continue, even if no thread can start
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if no thread can start; the probe has ended then
    void run(Executor threads, Runnable question, Runnable after) {
        try {
            threads.execute(() -> ask(question, after));
        } catch (RejectedExecutionException | OutOfMemoryError noThread) { // a full heap ends the process
            DriverException refusal = new DriverException.BackendUnavailable(
                    "the request " + operation + " was not sent, because the process cannot start a thread; retry",
                    noThread);
            after.run();
            end(refusal);
            throw refusal;
        }
    }

    private void ask(Runnable question, Runnable after) {
        Optional<RuntimeException> error = Optional.empty();
        try {
            question.run();
        } catch (RuntimeException e) {
            error = Optional.of(e);
        } catch (Error e) { // a probe without an answer must not count as one
            error = Optional.of(new IllegalStateException("the request " + operation + " failed", e));
        } finally {
            after.run();
            ended.complete(error);
        }
    }

    /// Ends without sending the request.
    void end(DriverException why) {
        ended.complete(Optional.of(why));
    }

    /// Records that the request is sent now; until then its client was connecting.
    void put() {
        put = Optional.of(System.nanoTime());
    }

    /// Returns how long ago the request was sent; zero if it was not.
    Duration age() {
        return put.map(since -> Duration.ofNanos(System.nanoTime() - since)).orElse(Duration.ZERO);
    }

    /// Records that no reply comes although the MDS replies to others.
    void stall() {
        stalled = true;
    }

    boolean isStalled() {
        return stalled;
    }

    /// Waits for the reply, at most `limit`.
    ///
    /// @return whether it came
    boolean endsWithin(Duration limit) {
        try {
            var _ = ended.get(Math.max(0, limit.toNanos()), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException _) {
            return false;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("a request to the MDS was interrupted");
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Returns whether the MDS replied without an error; call only after it has ended.
    boolean succeeded() {
        return ended.join().isEmpty();
    }

    /// Throws the error of the request, if any; call only after it has ended.
    void orThrow() {
        ended.join().ifPresent(error -> {
            throw error;
        });
    }
}

package dev.siphon.controller.ceph.fs;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A question that was put to an MDS, and for whose answer several may wait.
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

    /// Whether it was made after that time on the clock of [System#nanoTime].
    boolean isSince(long time) {
        return made - time >= 0;
    }

    /// Puts the question, on a thread that belongs to no operation: callers leave, and keep no keys.
    ///
    /// @param after runs before those who wait go on
    void run(Runnable question, Runnable after) {
        var _ = Thread.ofVirtual().name("probe").start(() -> {
            Optional<RuntimeException> error = Optional.empty();
            try {
                question.run();
            } catch (RuntimeException e) {
                error = Optional.of(e);
            } finally {
                after.run();
                ended.complete(error);
            }
        });
    }

    /// Ends without the question having been put.
    void end(DriverException why) {
        ended.complete(Optional.of(why));
    }

    /// The question goes out now: until then its client was being connected.
    void put() {
        put = Optional.of(System.nanoTime());
    }

    /// For how long the question has been out.
    Duration age() {
        return put.map(since -> Duration.ofNanos(System.nanoTime() - since)).orElse(Duration.ZERO);
    }

    /// Writes down that no answer comes, though the MDS answers others.
    void stall() {
        stalled = true;
    }

    boolean isStalled() {
        return stalled;
    }

    /// Waits for the answer, at most that long.
    ///
    /// @return whether there is one
    boolean endsWithin(Duration limit) {
        try {
            var _ = ended.get(Math.max(0, limit.toNanos()), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException _) {
            return false;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("interrupted while the MDS was asked");
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Throws what the question ended with, if with an error; only of one that has ended.
    void orThrow() {
        ended.join().ifPresent(error -> {
            throw error;
        });
    }
}

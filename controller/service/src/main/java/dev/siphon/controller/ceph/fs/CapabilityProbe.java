package dev.siphon.controller.ceph.fs;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/// One request to an MDS. It is a call of [CephFs] with its own deadline, so the thread that waits for it needs no
/// other.
final class CapabilityProbe {
    private static final int OF_A_VOLUME = -1;

    private final CompletableFuture<Optional<RuntimeException>> ended = new CompletableFuture<>();
    private final long made = System.nanoTime();
    private final String operation;
    private final int strength;
    private final Consumer<Mount> question;
    private volatile Optional<Long> put = Optional.empty();
    private volatile boolean stalled;

    private CapabilityProbe(String operation, int strength, Consumer<Mount> question) {
        this.operation = operation;
        this.strength = strength;
        this.question = question;
    }

    /// Creates a probe whose reply is for its caller alone.
    static CapabilityProbe single(String operation, Consumer<Mount> question) {
        return new CapabilityProbe(operation, OF_A_VOLUME, question);
    }

    /// Creates a probe of a group's directory alone.
    ///
    /// @param strength not negative; a probe takes all from other clients that weaker ones take
    static CapabilityProbe ofGroup(String operation, int strength, Consumer<Mount> question) {
        return new CapabilityProbe(operation, strength, question);
    }

    String operation() {
        return operation;
    }

    /// Returns whether this probe's success is also the other's: both are of the group alone, and this one was sent
    /// after the other was made.
    boolean answers(CapabilityProbe other) {
        return other.strength != OF_A_VOLUME
                && strength >= other.strength
                && put.filter(since -> since - other.made >= 0).isPresent();
    }

    /// Sends the request.
    void ask(Mount mount) {
        sent();
        question.accept(mount);
    }

    /// Records that the request is sent now; until then its client was connecting.
    void sent() {
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

    /// Lets the waiting callers continue.
    ///
    /// @param error why there is no reply
    void end(Optional<RuntimeException> error) {
        ended.complete(error);
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

    /// Throws the error of the request, if any; call only after it has ended.
    void orThrow() {
        ended.join().ifPresent(error -> {
            throw error;
        });
    }
}

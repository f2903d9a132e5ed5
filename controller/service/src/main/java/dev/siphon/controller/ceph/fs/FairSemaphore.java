package dev.siphon.controller.ceph.fs;

import dev.siphon.csi.FairQueue;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/// Limits the number of concurrent callers and serves owners in turn: an owner with many calls waits behind each
/// of the others. Runs nothing on other threads: what a caller does in its turn are calls of [CephFs].
final class FairSemaphore {
    /// Over all owners.
    private static final int MOST_WAITING = 1_000;

    private final FairQueue<CompletableFuture<Boolean>> waiting = new FairQueue<>(MOST_WAITING);
    private int free;

    /// @param atOnce maximum number of concurrent callers
    FairSemaphore(int atOnce) {
        this.free = atOnce;
    }

    /// Runs `body` when its owner's turn comes.
    ///
    /// @param patience how long to wait for the turn
    /// @return the result of `body`; empty if the turn did not come in time, or too many callers wait
    <T> Optional<T> take(String owner, Duration patience, Supplier<T> body) {
        CompletableFuture<Boolean> turn = queue(owner);
        if (!await(turn, patience)) {
            release(owner, turn);
            return Optional.empty();
        }
        try {
            return Optional.of(body.get());
        } finally {
            pass();
        }
    }

    /// Returns the number of callers that wait for a turn.
    int waiting() {
        return waiting.size();
    }

    private synchronized CompletableFuture<Boolean> queue(String owner) {
        CompletableFuture<Boolean> turn = new CompletableFuture<>();
        waiting.add(owner, turn).ifPresent(noRoom -> noRoom.complete(false));
        if (free > 0) {
            free--;
            pass();
        }
        return turn;
    }

    /// @return whether the turn came
    private static boolean await(CompletableFuture<Boolean> turn, Duration patience) {
        try {
            return turn.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException _) {
            return false;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /// Leaves the queue; a turn that came too late passes to the next caller.
    private synchronized void release(String owner, CompletableFuture<Boolean> turn) {
        waiting.remove(owner, turn);
        if (!turn.complete(false) && turn.join()) {
            pass();
        }
    }

    private synchronized void pass() {
        Optional<CompletableFuture<Boolean>> next = waiting.next(_ -> true);
        if (next.isPresent()) {
            next.get().complete(true);
        } else {
            free++;
        }
    }
}

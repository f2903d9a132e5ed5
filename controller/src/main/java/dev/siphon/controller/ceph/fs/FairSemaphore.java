package dev.siphon.controller.ceph.fs;

import dev.siphon.csi.FairQueue;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/// Lets a bounded number of callers work at once, owners in turns: whoever comes again and again waits
/// behind each of the others.
final class FairSemaphore {
    /// Of all owners.
    private static final int MOST_WAITING = 1_000;

    private final FairQueue<CompletableFuture<Boolean>> waiting = new FairQueue<>(MOST_WAITING);
    private int free;

    /// @param atOnce how many work at once
    FairSemaphore(int atOnce) {
        this.free = atOnce;
    }

    /// Does `body` when it is its owner's turn.
    ///
    /// @param patience how long to wait for that
    /// @return what it returned; empty if it was not its turn by then
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

    /// How many wait for a turn.
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

    /// @return whether it is its turn
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

    /// Whose turn came too late hands it on.
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

package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.csi.DriverException.BackendUnavailable;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Callers of a [DeadlineExecutor] who share a check that finds no place. `DeadlineExecutorTest` has those who share
/// one that runs.
@Timeout(60)
final class JoinedCheckTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    /// Returns a thread once it waits in `body`.
    private static Thread waiting(Runnable body) {
        Thread thread = Thread.ofPlatform().daemon().start(body);
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        return thread;
    }

    @Test
    void whoJoinedACheckThatFoundNoPlaceTriesForItself() {
        DeadlineExecutor calls = new DeadlineExecutor(
                Thread.ofPlatform().daemon().name("test-", 0).factory(), 1, 1);
        CompletableFuture<String> answer = new CompletableFuture<>();
        CompletableFuture<Optional<String>> hung = new CompletableFuture<>();
        var _ = waiting(() -> hung.complete(calls.run("other", "w", LONG, answer::join)));
        CompletableFuture<String> refused = new CompletableFuture<>();
        Thread first = waiting(() -> refused.complete(String.valueOf(
                assertThrows(BackendUnavailable.class, () -> calls.check("v", "mount 1", LONG, () -> "never"))
                        .getMessage())));
        CompletableFuture<String> checked = new CompletableFuture<>();
        var _ = waiting(() -> {
            try {
                checked.complete(calls.check("v", "mount 1", LONG, () -> "checked"));
            } catch (DriverException notMine) {
                checked.completeExceptionally(notMine);
            }
        });
        first.interrupt();
        assertEquals("mount 1: interrupted before it was started; retry", refused.join());
        answer.complete("late");
        assertEquals(Optional.of("late"), hung.join());
        assertEquals("checked", checked.join());
        calls.close();
    }
}

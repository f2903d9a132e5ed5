package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class FairSemaphoreTest {
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final Duration LONG = Duration.ofSeconds(30);

    private final FairSemaphore turns = new FairSemaphore(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<String> order = new CopyOnWriteArrayList<>();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        end.countDown();
        threads.close();
    }

    /// Lets an owner hold a permit until the test releases it.
    private CompletableFuture<Optional<String>> work(String owner) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Optional<String>> work = CompletableFuture.supplyAsync(
                () -> turns.take(owner, LONG, () -> {
                    begun.countDown();
                    awaitEnd();
                    return owner;
                }),
                threads);
        begun.await();
        return work;
    }

    private void awaitEnd() {
        try {
            end.await();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private CompletableFuture<Optional<Boolean>> wait(String owner, int waiting) {
        CompletableFuture<Optional<Boolean>> work =
                CompletableFuture.supplyAsync(() -> turns.take(owner, LONG, () -> order.add(owner)), threads);
        while (turns.waiting() < waiting) {
            Thread.onSpinWait();
        }
        return work;
    }

    @Test
    void whoComesAgainAndAgainWaitsBehindTheOthers() throws Exception {
        var working = work("greedy");
        var all = List.of(wait("greedy", 1), wait("greedy", 2), wait("greedy", 3), wait("modest", 4), wait("other", 5));
        end.countDown();
        assertEquals(Optional.of("greedy"), working.get(30, TimeUnit.SECONDS));
        for (var each : all) {
            assertEquals(Optional.of(true), each.get(30, TimeUnit.SECONDS));
        }
        assertEquals(List.of("greedy", "modest", "other", "greedy", "greedy"), order);
    }

    @Test
    void whoHasNoTurnInTimeGoesAndNobodyMissesHim() throws Exception {
        var working = work("a");
        assertEquals(Optional.empty(), turns.take("b", SHORT, () -> true));
        assertEquals(0, turns.waiting());
        end.countDown();
        assertEquals(Optional.of("a"), working.get(30, TimeUnit.SECONDS));
        assertEquals(Optional.of(1), turns.take("b", LONG, () -> 1));
        assertEquals(Optional.of(2), turns.take("a", LONG, () -> 2));
    }

    @Test
    void aTurnThatFailsIsPassedOn() {
        try {
            var _ = turns.take("a", LONG, () -> {
                throw new IllegalStateException("fails");
            });
        } catch (IllegalStateException expected) {
            assertEquals("fails", expected.getMessage());
        }
        assertEquals(Optional.of(1), turns.take("b", SHORT, () -> 1));
    }
}

package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BackgroundTasksTest {
    private static final Duration SOON = Duration.ofMillis(1);

    private final BackgroundTasks tasks = new BackgroundTasks();

    private static void await(CountDownLatch latch) throws InterruptedException {
        assertTrue(latch.await(20, TimeUnit.SECONDS));
    }

    @Test
    void aTaskGoesOnAfterExceptionsErrorsAndInterruptsAndCountsThem() throws InterruptedException {
        AtomicInteger step = new AtomicInteger();
        CountDownLatch fifth = new CountDownLatch(1);
        try (BackgroundTasks.Task _ = tasks.every("test", SOON, SOON, () -> {
            switch (step.incrementAndGet()) {
                case 1 -> throw new IllegalStateException("first");
                case 2 -> throw new StackOverflowError("second");
                case 3 -> Thread.currentThread().interrupt();
                case 5 -> fifth.countDown();
                default -> {}
            }
        })) {
            await(fifth);
        }
        assertEquals(Map.of("test", 2L), tasks.failures());
    }

    @Test
    void aTaskThatIsClosedIsInterruptedAndEnds() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        BackgroundTasks.Task task = tasks.every("test", SOON, SOON, () -> {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException _) {
                interrupted.countDown();
            }
        });
        await(begun);
        task.close();
        await(interrupted);
    }

    @Test
    void whatIsGuardedThrowsNothing() {
        assertDoesNotThrow(tasks.guarded("test", () -> {
            throw new IllegalStateException("unforeseen");
        })::run);
        assertEquals(Map.of("test", 1L), tasks.failures());
    }
}

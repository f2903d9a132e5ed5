package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class ReadinessTest {
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final Duration LONG = Duration.ofMinutes(5);

    @Test
    void notReadyBeforeTheFirstCheck() {
        CountDownLatch never = new CountDownLatch(1);
        try (Readiness readiness = Readiness.start(() -> waitFor(never), LONG, LONG)) {
            assertFalse(readiness.state().ready());
            assertEquals("not checked yet", readiness.state().reason());
        } finally {
            never.countDown();
        }
    }

    @Test
    void followsWhatTheCheckFinds() {
        BlockingQueue<Optional<String>> answers = new LinkedBlockingQueue<>();
        try (Readiness readiness = Readiness.start(() -> take(answers), SHORT, LONG)) {
            answers.add(Optional.empty());
            Eventually.is(() -> readiness.state().ready());
            Instant since = readiness.state().since();
            answers.add(Optional.of("no monitor answers"));
            Eventually.is(() -> !readiness.state().ready());
            assertEquals("no monitor answers", readiness.state().reason());
            assertFalse(readiness.state().since().isBefore(since));
            answers.add(Optional.empty());
            Eventually.is(() -> readiness.state().ready());
        }
    }

    @Test
    void sinceTellsWhenItChangedNotWhenTheReasonDid() {
        BlockingQueue<Optional<String>> answers = new LinkedBlockingQueue<>();
        try (Readiness readiness = Readiness.start(() -> take(answers), SHORT, LONG)) {
            answers.add(Optional.of("one"));
            Eventually.is(() -> readiness.state().reason().equals("one"));
            Instant since = readiness.state().since();
            answers.add(Optional.of("two"));
            Eventually.is(() -> readiness.state().reason().equals("two"));
            assertEquals(since, readiness.state().since());
        }
    }

    @Test
    void aCheckThatHangsMakesItNotReadyAndIsTheOnlyOne() {
        CountDownLatch hanging = new CountDownLatch(1);
        AtomicInteger checks = new AtomicInteger();
        try (Readiness readiness = Readiness.start(
                () -> checks.incrementAndGet() == 2 ? waitFor(hanging) : Optional.empty(), SHORT, SHORT)) {
            Eventually.is(() -> readiness.state().reason().startsWith("the check has not answered"));
            Instant noticed = Instant.now();
            Eventually.is(() -> Instant.now().isAfter(noticed.plus(SHORT.multipliedBy(10))));
            assertEquals(2, checks.get());
            assertFalse(readiness.state().ready());
            hanging.countDown();
            Eventually.is(() -> readiness.state().ready());
        }
    }

    @Test
    void aCheckThatThrowsIsAProblemAndIsAskedAgain() {
        AtomicInteger checks = new AtomicInteger();
        BlockingQueue<Optional<String>> answers = new LinkedBlockingQueue<>();
        try (Readiness readiness = Readiness.start(
                () -> {
                    if (checks.incrementAndGet() == 1) {
                        throw new IllegalStateException("broken");
                    }
                    return take(answers);
                },
                SHORT,
                LONG)) {
            Eventually.is(() -> readiness.state().reason().contains("broken"));
            answers.add(Optional.empty());
            Eventually.is(() -> readiness.state().ready());
        }
    }

    @Test
    void aRemarkThatThrowsIsToldAndTheNextCheckComes() {
        AtomicInteger checks = new AtomicInteger();
        Readiness.Check check = new Readiness.Check() {
            @Override
            public Optional<String> problem() {
                checks.incrementAndGet();
                return Optional.empty();
            }

            @Override
            public Optional<String> remark() {
                if (checks.get() == 1) {
                    throw new IllegalStateException("broken");
                }
                return Optional.of("as usual");
            }
        };
        try (Readiness readiness = Readiness.start(check, SHORT, LONG)) {
            Eventually.is(() -> readiness.state().reason().equals("as usual"));
            assertTrue(readiness.state().ready());
        }
    }

    @Test
    void onceClosedItStaysNotReady() {
        AtomicInteger checks = new AtomicInteger();
        Readiness readiness = Readiness.start(
                () -> {
                    checks.incrementAndGet();
                    return Optional.empty();
                },
                SHORT,
                LONG);
        Eventually.is(() -> readiness.state().ready());
        readiness.close();
        assertFalse(readiness.state().ready());
        assertEquals("shutting down", readiness.state().reason());
        int before = checks.get();
        assertTrue(checks.get() <= before + 1);
        assertFalse(readiness.state().ready());
    }

    private static Optional<String> take(BlockingQueue<Optional<String>> answers) {
        try {
            return answers.take();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static Optional<String> waitFor(CountDownLatch latch) {
        Eventually.open(latch);
        return Optional.empty();
    }
}

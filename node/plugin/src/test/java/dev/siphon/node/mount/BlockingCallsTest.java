package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException.BackendUnavailable;
import dev.siphon.csi.DriverException.DeadlinePassed;
import dev.siphon.csi.DriverException.InUse;
import dev.siphon.csi.DriverException.OperationPending;
import dev.siphon.csi.KeyedOperations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BlockingCallsTest {
    private static final Duration SHORT = Duration.ofMillis(30);
    private static final Duration LONG = Duration.ofSeconds(20);

    private final BlockingCalls calls = new BlockingCalls();
    private final CountDownLatch stuck = new CountDownLatch(1);

    @AfterEach
    void release() {
        stuck.countDown();
        calls.close();
    }

    private boolean hang() {
        try {
            return stuck.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Test
    void whatACallReturnsOrThrowsReachesItsCaller() {
        assertEquals("done", calls.change("v", LONG, () -> "done"));
        assertThrows(
                InUse.class,
                () -> calls.change("v", LONG, () -> {
                    throw new InUse("busy");
                }));
        assertEquals(0, calls.underWay());
    }

    @Test
    void callsRunOnPlatformThreads() {
        assertTrue(calls.change("v", LONG, () -> !Thread.currentThread().isVirtual()));
    }

    @Test
    void aCallThatHangsIsLeftAtItsDeadline() {
        assertThrows(DeadlinePassed.class, () -> calls.change("v", SHORT, this::hang));
        assertEquals(1, calls.underWay());
    }

    @Test
    void theKeyOfAHungChangeStaysTakenUntilItEnds() throws Exception {
        KeyedOperations keys = new KeyedOperations();
        CountDownLatch ended = new CountDownLatch(1);
        assertThrows(
                DeadlinePassed.class,
                () -> keys.run(
                        "v",
                        () -> calls.change("v", SHORT, () -> {
                            hang();
                            ended.countDown();
                        })));
        assertThrows(OperationPending.class, () -> keys.run("v", () -> {}));
        stuck.countDown();
        assertTrue(ended.await(20, TimeUnit.SECONDS));
        while (keys.inFlight() > 0) {
            Thread.onSpinWait();
        }
        keys.run("v", () -> {});
    }

    @Test
    void aVolumeThatHangsIsBoundedAndOthersGoOn() {
        for (int i = 0; i < 4; i++) {
            assertThrows(DeadlinePassed.class, () -> calls.change("hung", SHORT, this::hang));
        }
        assertThrows(BackendUnavailable.class, () -> calls.change("hung", SHORT, this::hang));
        assertEquals(4, calls.underWay());
        assertEquals("fine", calls.change("other", LONG, () -> "fine"));
    }

    @Test
    void looksAtOneSubjectShareOneCall() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        List<Future<Boolean>> looks = new ArrayList<>();
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 50; i++) {
                looks.add(callers.submit(() -> calls.check("v", "mount 1", LONG, () -> {
                    runs.incrementAndGet();
                    return hang();
                })));
            }
            while (runs.get() == 0) {
                Thread.onSpinWait();
            }
            assertThrows(DeadlinePassed.class, () -> calls.check("v", "mount 1", SHORT, this::hang));
            assertEquals(1, calls.underWay());
            stuck.countDown();
            for (Future<Boolean> look : looks) {
                assertTrue(look.get());
            }
        }
    }

    @Test
    void aLookAfterTheLastIsANewOne() {
        assertEquals(1, calls.check("v", "mount 1", LONG, () -> 1));
        assertEquals(2, calls.check("v", "mount 1", LONG, () -> 2));
    }
}

package dev.siphon.controller.ceph.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class NativeCallsTest {
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final Duration LONG = Duration.ofSeconds(20);

    private final CompletableFuture<String> answer = new CompletableFuture<>();
    private final KeyedOperations keys = new KeyedOperations();

    @AfterEach
    void letAllReturn() {
        answer.complete("late");
    }

    @Test
    void aCallReturnsItsResultOnAPlatformThread() {
        assertEquals(
                Optional.of(false),
                calls(1).run("w", LONG, () -> Thread.currentThread().isVirtual()));
    }

    @Test
    void aCallsOwnErrorComesThrough() {
        DriverException.NotFound thrown = new DriverException.NotFound("nothing");
        NativeCalls calls = calls(1);
        assertEquals(
                thrown,
                assertThrows(
                        DriverException.NotFound.class,
                        () -> calls.run("w", LONG, () -> {
                            throw thrown;
                        })));
        assertEquals(0, calls.outstanding());
    }

    @Test
    void afterTheDeadlineTheKeyStaysTakenUntilTheCallHasReturned() {
        NativeCalls calls = calls(2);
        DriverException.DeadlinePassed late = assertThrows(
                DriverException.DeadlinePassed.class, () -> keys.run("a", () -> calls.run("w", SHORT, answer::join)));
        assertTrue(String.valueOf(late.getMessage()).startsWith("w has not been answered"), late.getMessage());
        assertEquals(1, keys.inFlight());
        assertEquals(1, calls.outstanding());
        answer.complete("late");
        await(calls);
        assertEquals(0, keys.inFlight());
    }

    @Test
    void aCallThatIsNotAnsweredIsGivenUpAndFreesItsKey() {
        NativeCalls calls = calls(2, Duration.ZERO, LONG);
        assertThrows(
                DriverException.DeadlinePassed.class, () -> keys.run("a", () -> calls.run("w", SHORT, answer::join)));
        assertTrue(calls.giveUpLost());
        assertEquals(0, keys.inFlight());
        assertEquals(1, calls.outstanding());
    }

    @Test
    void aCallIsNotGivenUpWhileOthersAreAnsweredUntilItIsLost() {
        NativeCalls answered = calls(2, Duration.ZERO, LONG);
        assertThrows(DriverException.DeadlinePassed.class, () -> answered.run("w", SHORT, answer::join));
        assertEquals(Optional.of("now"), answered.run("w", LONG, () -> "now"));
        assertFalse(answered.giveUpLost());
        NativeCalls lost = calls(2, Duration.ZERO, Duration.ZERO);
        assertThrows(DriverException.DeadlinePassed.class, () -> lost.run("w", SHORT, answer::join));
        assertEquals(Optional.of("now"), lost.run("w", LONG, () -> "now"));
        assertTrue(lost.giveUpLost());
    }

    @Test
    void aCallWhoseCallerStillWaitsIsNotGivenUp() {
        NativeCalls calls = calls(2, Duration.ZERO, Duration.ZERO);
        CompletableFuture<Optional<String>> waiting =
                CompletableFuture.supplyAsync(() -> calls.run("w", LONG, answer::join));
        while (calls.outstanding() == 0) {
            Thread.onSpinWait();
        }
        assertFalse(calls.giveUpLost());
        answer.complete("now");
        assertEquals(Optional.of("now"), waiting.join());
    }

    @Test
    void whenAllSlotsAreHeldByCallsWhoseCallersHaveLeftNobodyWaits() {
        NativeCalls calls = calls(1);
        assertThrows(DriverException.DeadlinePassed.class, () -> calls.run("w", SHORT, answer::join));
        long began = System.nanoTime();
        assertThrows(DriverException.BackendUnavailable.class, () -> calls.run("w", LONG, () -> "never"));
        assertTrue(System.nanoTime() - began < LONG.toNanos() / 4);
    }

    @Test
    void aCallWaitsForASlotWhileTheOthersMayStillBeAnswered() {
        NativeCalls calls = calls(1);
        CompletableFuture<Optional<String>> first =
                CompletableFuture.supplyAsync(() -> calls.run("w", LONG, answer::join));
        CompletableFuture<Optional<String>> second =
                CompletableFuture.supplyAsync(() -> calls.run("w", LONG, () -> "second"));
        while (calls.outstanding() == 0) {
            Thread.onSpinWait();
        }
        assertThrows(DriverException.BackendUnavailable.class, () -> calls.run("w", SHORT, () -> "third"));
        answer.complete("first");
        assertTrue(first.join().isPresent());
        assertTrue(second.join().isPresent());
    }

    @Test
    void aRetiredHandleTakesNoCallAndIsClosedWhenTheLastHasReturned() {
        NativeCalls calls = calls(2);
        assertThrows(DriverException.DeadlinePassed.class, () -> calls.run("w", SHORT, answer::join));
        CompletableFuture<Void> drained = calls.retire();
        assertEquals(Optional.empty(), calls.run("w", LONG, () -> "never"));
        assertFalse(drained.isDone());
        answer.complete("late");
        drained.join();
        assertTrue(calls(1).retire().isDone());
    }

    @Test
    void anInterruptedCallerLeavesAndStaysInterrupted() {
        NativeCalls calls = calls(1);
        Thread.currentThread().interrupt();
        assertThrows(DriverException.BackendUnavailable.class, () -> calls.run("w", LONG, answer::join));
        assertTrue(Thread.interrupted());
    }

    private static NativeCalls calls(int slots) {
        return calls(slots, LONG, LONG);
    }

    private static NativeCalls calls(int slots, Duration silence, Duration lost) {
        CallLimits limits = new CallLimits(slots, LONG, silence, lost, LONG, 1);
        return new NativeCalls("test", "lab", limits, new CephMetrics(new PrometheusRegistry()));
    }

    private static void await(NativeCalls calls) {
        while (calls.outstanding() > 0) {
            Thread.onSpinWait();
        }
        calls.retire().join();
    }
}

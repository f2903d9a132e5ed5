package dev.siphon.controller.ceph.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ReconnectingHandleTest {
    private static final CallLimits LIMITS =
            new CallLimits(2, Duration.ofSeconds(20), Duration.ZERO, Duration.ofSeconds(20), Duration.ofSeconds(1), 1);

    private final CephMetrics metrics = new CephMetrics(new PrometheusRegistry());
    private final List<Handle> made = new CopyOnWriteArrayList<>();
    private final List<CompletableFuture<Integer>> answers = new ArrayList<>();
    private final ReconnectingHandle<Handle> handles =
            new ReconnectingHandle<>("test", "lab", LIMITS, metrics, number -> connect(number));

    /// A handle that records whether it was closed.
    private record Handle(int number, NativeCalls calls, CompletableFuture<Void> closed) implements NativeHandle {
        @Override
        public void close() {
            closed.complete(null);
        }
    }

    private Handle connect(int number) {
        Handle handle = new Handle(number, new NativeCalls("test", "lab", LIMITS, metrics), new CompletableFuture<>());
        made.add(handle);
        return handle;
    }

    @AfterEach
    void letAllReturn() {
        answers.forEach(answer -> answer.complete(0));
        handles.shutDown().join();
        made.forEach(handle -> assertTrue(handle.closed().isDone()));
    }

    @Test
    void oneHandleServesAllCalls() {
        assertEquals(1, call());
        assertEquals(1, call());
        assertEquals(1, made.size());
    }

    @Test
    void aSilentHandleIsReplacedAndClosedWhenItsCallReturns() {
        hang();
        handles.sweep();
        assertEquals(2, call());
        assertFalse(made.getFirst().closed().isDone());
        answers.getFirst().complete(0);
        made.getFirst().closed().join();
    }

    @Test
    void beyondTheSpareHandlesNoMoreAreMade() {
        hang();
        handles.sweep();
        hang();
        handles.sweep();
        assertEquals(2, call());
        assertEquals(2, made.size());
    }

    @Test
    void whatIsNotThereYetIsLookedForAtTheNextCall() {
        ReconnectingHandle<Handle> empty = new ReconnectingHandle<>("empty", "lab", LIMITS, metrics, number -> {
            if (number == 1) {
                throw new DriverException.NotFound("mounting /volumes failed: ENOENT");
            }
            return connect(number);
        });
        long end = System.nanoTime() + LIMITS.patience().toNanos();

        assertThrows(DriverException.BackendUnavailable.class, () -> empty.call("look", end, Handle::number));

        assertEquals(2, empty.call("look", end, Handle::number));
        empty.shutDown().join();
    }

    /// A mount that began before the first volume existed fails after its creation.
    @Test
    void whatWasLookedForBeforeItWasThereIsLookedForOnceMore() {
        CompletableFuture<Integer> slow = new CompletableFuture<>();
        ReconnectingHandle<Handle> empty = new ReconnectingHandle<>("empty", "lab", LIMITS, metrics, number -> {
            if (number == 1) {
                int _ = slow.join();
                throw new DriverException.NotFound("mounting /volumes failed: ENOENT");
            }
            return connect(number);
        });
        empty.warmUp();
        slow.completeOnTimeout(0, 100, TimeUnit.MILLISECONDS);

        assertEquals(2, empty.call("a call", in(Duration.ofSeconds(20)), Handle::number));
        empty.shutDown().join();
    }

    @Test
    void aHandleThatTheClusterEndedIsReplaced() {
        assertEquals(1, call());
        handles.discard(made.getFirst());
        handles.discard(made.getFirst());
        assertEquals(2, call());
        made.getFirst().closed().join();
    }

    @Test
    void anIdleHandleIsClosedAndMadeAnew() {
        assertEquals(1, call());
        handles.closeIfIdle(Duration.ofHours(1));
        assertEquals(1, call());
        handles.closeIfIdle(Duration.ZERO);
        made.getFirst().closed().join();
        assertEquals(2, call());
    }

    @Test
    void aHandleThatCannotBeMadeMeansUnavailableWithTheReason() {
        ReconnectingHandle<Handle> broken = new ReconnectingHandle<>("test", "lab", LIMITS, metrics, _ -> {
            throw new DriverException.AccessDenied("wrong key");
        });
        DriverException.BackendUnavailable error = assertThrows(
                DriverException.BackendUnavailable.class, () -> broken.call("w", in(Duration.ofSeconds(20)), _ -> 1));
        assertEquals("w was not started: wrong key", error.getMessage());
    }

    @Test
    void aClosedOneTakesNoCalls() {
        handles.shutDown().join();
        assertThrows(DriverException.BackendUnavailable.class, this::call);
    }

    private int call() {
        return handles.call("w", in(Duration.ofSeconds(20)), Handle::number);
    }

    private void hang() {
        call();
        CompletableFuture<Integer> answer = new CompletableFuture<>();
        answers.add(answer);
        assertThrows(
                DriverException.DeadlinePassed.class,
                () -> handles.call("w", in(Duration.ofMillis(20)), _ -> answer.join()));
    }

    private static long in(Duration time) {
        return System.nanoTime() + time.toNanos();
    }
}

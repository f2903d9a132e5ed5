package dev.siphon.controller.ceph.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What `DeadlineExecutorTest` shows of the calls themselves is not repeated here.
@Timeout(30)
final class NativeCallsTest {
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final Duration LONG = Duration.ofSeconds(20);

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final NativeCalls calls = new NativeCalls(
            "test", "lab", new CallLimits(2, LONG, Duration.ZERO, LONG, LONG, 1), new CephMetrics(registry));

    @Test
    void aCallCountsUntilItReturnsAndItsHandleIsClosedAfterwards() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        assertThrows(DriverException.DeadlinePassed.class, () -> calls.run("w", SHORT, answer::join));
        assertEquals(1, calls.outstanding());
        assertEquals(1, inFlight());
        assertTrue(calls.giveUpLost());
        CompletableFuture<Void> drained = calls.retire();
        assertEquals(Optional.empty(), calls.run("w", LONG, () -> "never"));
        assertFalse(drained.isDone());
        answer.complete("late");
        drained.join();
        assertEquals(0, calls.outstanding());
        assertEquals(0, inFlight());
    }

    @Test
    void aCallIsNotGivenUpBySilenceOnceAnotherReturned() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        assertThrows(DriverException.DeadlinePassed.class, () -> calls.run("w", SHORT, answer::join));
        assertEquals(Optional.of("now"), calls.run("other", LONG, () -> "now"));
        assertFalse(calls.giveUpLost());
        answer.complete("late");
    }

    @Test
    void anErrorOfTheLibraryFailsTheCallLikeAnyOtherFault() {
        LinkageError error = new LinkageError("no such symbol");
        IllegalStateException thrown = assertThrows(
                IllegalStateException.class,
                () -> calls.run("w", LONG, () -> {
                    throw error;
                }));
        assertSame(error, thrown.getCause());
        assertEquals(0, inFlight());
    }

    private double inFlight() {
        return registry.scrape("siphon_ceph_calls_in_flight"::equals).stream()
                .map(GaugeSnapshot.class::cast)
                .flatMap(gauge -> gauge.getDataPoints().stream())
                .mapToDouble(GaugeSnapshot.GaugeDataPointSnapshot::getValue)
                .sum();
    }
}

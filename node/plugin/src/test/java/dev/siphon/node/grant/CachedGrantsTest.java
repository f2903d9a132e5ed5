package dev.siphon.node.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

final class CachedGrantsTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Grants ONE = GrantsSourceContract.grants("one");
    private static final Grants TWO = GrantsSourceContract.grants("two");

    private final PrometheusRegistry metrics = new PrometheusRegistry();
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000); // nanoTime may overflow
    private final AtomicInteger reads = new AtomicInteger();
    private volatile Supplier<Grants> answer = () -> ONE;
    private final CachedGrants cached = new CachedGrants(this::read, metrics, nanos::get);

    private Grants read() {
        reads.incrementAndGet();
        return answer.get();
    }

    @Test
    void withinTheAgeNothingIsAsked() {
        assertEquals(ONE, fresh(MINUTE));
        answer = () -> TWO;
        pass(Duration.ofSeconds(60));
        assertEquals(ONE, fresh(MINUTE));
        assertEquals(60, gauge());
        pass(Duration.ofNanos(1));
        assertEquals(TWO, fresh(MINUTE));
        assertEquals(2, reads.get());
        assertEquals(2, counter("siphon_grants_reads", "answered"));
    }

    @Test
    void anAgeOfZeroAsks() {
        assertEquals(ONE, fresh(Duration.ZERO));
        pass(Duration.ofMillis(1));
        answer = () -> TWO;
        assertEquals(TWO, fresh(Duration.ZERO));
    }

    @Test
    void withoutAnyAnswerNobodyIsLetInAndEachCallerAsks() {
        answer = silent("no route");
        for (int i = 0; i < 3; i++) {
            DriverException unknown = assertThrows(DriverException.BackendUnavailable.class, () -> cached.get(MINUTE));
            assertEquals("whether the pod's namespace may use the volume is not known: no route", unknown.getMessage());
            pass(Duration.ofMillis(1));
        }
        assertEquals(3, reads.get());
        assertEquals(-1, gauge());
        assertTrue(cached.remark().orElseThrow().contains("no volume of an account can be published"));
    }

    @Test
    void anOlderAnswerServesWhileThereIsNoOtherAndCostsOneRequestAMinute() {
        assertEquals(ONE, fresh(MINUTE));
        answer = silent("no route");
        pass(Duration.ofHours(5));
        for (int i = 0; i < 10; i++) {
            assertEquals(new GrantsSource.KnownGrants(ONE, Optional.of("no route")), cached.get(MINUTE));
            pass(Duration.ofSeconds(5));
        }
        assertEquals(2, reads.get());
        assertEquals(10, counter("siphon_grants_outdated"));
        assertTrue(cached.remark().orElseThrow().contains("no route; the older ones still apply"));
        pass(Duration.ofSeconds(11));
        assertEquals(new GrantsSource.KnownGrants(ONE, Optional.of("no route")), cached.get(MINUTE));
        assertEquals(3, reads.get());
        answer = () -> TWO;
        assertEquals(ONE, cached.get(MINUTE).grants());
        pass(Duration.ofMillis(1));
        assertEquals(TWO, fresh(Duration.ZERO));
        assertEquals(Optional.empty(), cached.remark());
    }

    @Test
    void whatIsMissingIsForgotten() {
        assertEquals(ONE, fresh(MINUTE));
        answer = () -> {
            throw new DriverException.NotFound("no such ConfigMap");
        };
        assertEquals(ONE, fresh(MINUTE));
        pass(Duration.ofMillis(1));
        assertThrows(DriverException.BackendUnavailable.class, () -> cached.get(Duration.ZERO));
        assertThrows(DriverException.BackendUnavailable.class, () -> cached.get(MINUTE));
        answer = silent("no route");
        assertThrows(DriverException.BackendUnavailable.class, () -> cached.get(MINUTE));
        assertEquals(2, counter("siphon_grants_reads", "missing"));
    }

    @Test
    void manyAtOnceShareTheRequestThatBeganAfterTheyCame() throws Exception {
        CachedGrants inTime = new CachedGrants(this::read, new PrometheusRegistry());
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        answer = () -> {
            begun.countDown();
            open(goOn);
            return reads.get() == 1 ? ONE : TWO;
        };
        FutureTask<Grants> first =
                new FutureTask<>(() -> inTime.get(Duration.ZERO).grants());
        Thread.startVirtualThread(first);
        open(begun);
        List<FutureTask<Grants>> later = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            FutureTask<Grants> task =
                    new FutureTask<>(() -> inTime.get(Duration.ZERO).grants());
            awaitWaiting(Thread.startVirtualThread(task));
            later.add(task);
        }
        goOn.countDown();
        assertEquals(ONE, first.get());
        for (FutureTask<Grants> each : later) {
            assertEquals(TWO, each.get());
        }
        assertEquals(2, reads.get());
    }

    private static void awaitWaiting(Thread thread) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            assertTrue(System.nanoTime() < end, () -> "is " + thread.getState());
            LockSupport.parkNanos(100_000);
        }
    }

    @Test
    void aFirstAnswerIsFetchedInTheBackground() throws InterruptedException {
        CountDownLatch asked = new CountDownLatch(1);
        answer = () -> {
            asked.countDown();
            return ONE;
        };
        cached.prefetch();
        assertTrue(asked.await(10, TimeUnit.SECONDS));
        assertEquals(ONE, fresh(MINUTE));
        assertEquals(1, reads.get());
    }

    private Grants fresh(Duration age) {
        GrantsSource.KnownGrants known = cached.get(age);
        assertEquals(Optional.empty(), known.outdated());
        return known.grants();
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    private static Supplier<Grants> silent(String why) {
        return () -> {
            throw new DriverException.BackendUnavailable(why);
        };
    }

    private static void open(CountDownLatch latch) {
        try {
            assertTrue(latch.await(30, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private double gauge() {
        return metrics.scrape().stream()
                .filter(each -> each.getMetadata().getName().equals("siphon_grants_age_seconds"))
                .flatMap(each -> ((GaugeSnapshot) each).getDataPoints().stream())
                .findFirst()
                .orElseThrow()
                .getValue();
    }

    private double counter(String name, String... result) {
        return metrics.scrape().stream()
                .filter(each -> each.getMetadata().getName().equals(name))
                .flatMap(each -> ((CounterSnapshot) each).getDataPoints().stream())
                .filter(point ->
                        result.length == 0 || result[0].equals(point.getLabels().get("result")))
                .findFirst()
                .orElseThrow()
                .getValue();
    }
}

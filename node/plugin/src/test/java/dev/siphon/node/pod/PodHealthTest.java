package dev.siphon.node.pod;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.node.mount.TargetPath;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PodHealthTest {
    private static final Pod POD = new Pod("u1", "train", "1");
    private static final TargetPath TARGET = TargetPath.parse("target_path", "/pods/1/mount");
    private static final TargetPath OTHER = TargetPath.parse("target_path", "/pods/2/mount");

    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final AtomicBoolean refuses = new AtomicBoolean();
    private final CountDownLatch asked = new CountDownLatch(1);

    @TempDir
    private Path folder;

    private Optional<PodHealth> made = Optional.empty();

    @BeforeEach
    void make() {
        made = Optional.of(new PodHealth(new PublishedPods(folder), this::add, new PrometheusRegistry()));
        health().published(TARGET, Optional.of(POD));
    }

    @AfterEach
    void close() {
        health().close();
    }

    private PodHealth health() {
        return made.orElseThrow();
    }

    private void add(Pod pod, PodEvents.Event event) {
        asked.countDown();
        if (refuses.get()) {
            told.add("refused");
            throw new DriverException.BackendUnavailable("no API");
        }
        told.add(pod.name() + " " + event.type().text() + " " + event.reason() + " " + event.message());
    }

    private static Supplier<String> fails(DriverException failure) {
        return () -> {
            throw failure;
        };
    }

    private void looksBad() {
        DriverException dead = new DriverException.BackendUnavailable("the mount is dead");
        assertEquals(
                dead,
                assertThrows(DriverException.BackendUnavailable.class, () -> health().watching(TARGET, fails(dead))));
    }

    private void looksWell() {
        assertEquals("well", health().watching(TARGET, () -> "well"));
    }

    private void assertNext(String start) throws InterruptedException {
        String next = Optional.ofNullable(told.poll(10, TimeUnit.SECONDS)).orElse("nothing");
        assertTrue(next.startsWith(start), next);
    }

    /// One thread reports in order: whatever should precede `start` has been reported by then.
    private void assertNothingBefore(Runnable next, String start) throws InterruptedException {
        next.run();
        assertNext(start);
    }

    @Test
    void whatIsTakenBackIsToldOnceAndAgainWhenItIsTakenBackAgain() throws InterruptedException {
        Optional<String> taken = Optional.of("namespace \"u1\" is no reader");
        health().access(TARGET, _ -> Optional.empty());
        health().access(TARGET, pod -> Optional.of(pod.namespace() + " is no reader"));
        health().access(TARGET, _ -> taken);
        assertNext("train Warning VolumeAccessWithdrawn u1 is no reader; this pod can read it until it ends");
        health().access(TARGET, _ -> Optional.empty());
        assertNothingBefore(() -> health().access(TARGET, _ -> taken), "train Warning VolumeAccessWithdrawn namespace");
        health().access(OTHER, _ -> taken);
        assertNothingBefore(this::looksBad, "train Warning VolumeConditionAbnormal");
    }

    @Test
    void thatItIsSlowIsToldOnceToEachPod() throws InterruptedException {
        health().slow(TARGET, "dataset 1 is read by a process");
        assertNext("train Warning DatasetSlow dataset 1 is read by a process");
        health().slow(TARGET, "dataset 1 is read by a process");
        health().slow(OTHER, "nobody's");
        assertNothingBefore(this::looksBad, "train Warning VolumeConditionAbnormal");
        health().ends(TARGET);
        health().slow(TARGET, "no pod any more");
        health().published(TARGET, Optional.of(new Pod("vision", "next", "18")));
        health().slow(TARGET, "dataset 1 is read by a process");
        assertNext("next Warning DatasetSlow");
    }

    @Test
    void whatNobodyTookIsToldAgain() throws InterruptedException {
        refuses.set(true);
        health().access(TARGET, _ -> Optional.of("no reader"));
        assertNext("refused");
        refuses.set(false);
        // the report is forgotten just after it was refused
        String next = "";
        while (!next.startsWith("train Warning VolumeAccessWithdrawn")) {
            health().access(TARGET, _ -> Optional.of("no reader"));
            next = Optional.ofNullable(told.poll(10, TimeUnit.MILLISECONDS)).orElse("");
        }
    }

    @Test
    void eachChangeIsToldOnce() throws InterruptedException {
        looksWell();
        looksBad();
        assertNext("train Warning VolumeConditionAbnormal the mount is dead; if that does not pass, delete the pod");
        looksBad();
        assertNothingBefore(this::looksWell, "train Normal VolumeConditionNormal");
        looksWell();
        assertNothingBefore(this::looksBad, "train Warning");
    }

    @Test
    void aMountThatIsGoneIsTold() throws InterruptedException {
        assertThrows(
                DriverException.NotFound.class,
                () -> health().watching(TARGET, fails(new DriverException.NotFound("not mounted"))));
        assertNext("train Warning VolumeConditionAbnormal not mounted");
    }

    @Test
    void whatTheRequestIsToBlameForIsNoState() throws InterruptedException {
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> health().watching(TARGET, fails(new DriverException.InvalidRequest("bad"))));
        assertNothingBefore(this::looksBad, "train Warning VolumeConditionAbnormal the mount is dead");
    }

    @Test
    void whoEndsIsToldNothing() throws InterruptedException {
        looksBad();
        assertNext("train Warning");
        health().ends(TARGET);
        looksBad();
        looksWell();
        health().published(OTHER, Optional.of(POD));
        assertThrows(
                DriverException.NotFound.class,
                () -> health().watching(OTHER, fails(new DriverException.NotFound("other"))));
        assertNext("train Warning VolumeConditionAbnormal other");
    }

    @Test
    void whatWasNotTakenIsToldAtTheNextLook() throws InterruptedException {
        refuses.set(true);
        looksBad();
        assertNext("refused");
        refuses.set(false);
        // a check reports nothing until the refusal is recorded
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        Optional<String> next = Optional.empty();
        while (next.isEmpty() && System.nanoTime() < end) {
            looksBad();
            next = Optional.ofNullable(told.poll(10, TimeUnit.MILLISECONDS));
        }
        assertTrue(next.orElse("nothing").startsWith("train Warning"), next::toString);
    }

    @Test
    void aPodThatNobodyNamedIsNotTold() throws InterruptedException {
        health().published(OTHER, Optional.empty());
        assertThrows(
                DriverException.NotFound.class,
                () -> health().watching(OTHER, fails(new DriverException.NotFound("other"))));
        assertNothingBefore(this::looksBad, "train Warning VolumeConditionAbnormal the mount is dead");
    }

    @Test
    void anApiThatHangsHoldsUpNoLook() throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch hangs = new CountDownLatch(1);
        PodEvents slow = (_, _) -> {
            hangs.countDown();
            try {
                end.await();
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        };
        try (PodHealth watched = new PodHealth(new PublishedPods(folder), slow, new PrometheusRegistry())) {
            for (int i = 0; i < 3; i++) {
                assertThrows(
                        DriverException.NotFound.class,
                        () -> watched.watching(TARGET, fails(new DriverException.NotFound("gone"))));
                assertEquals("well", watched.watching(TARGET, () -> "well"));
            }
            assertTrue(hangs.await(10, TimeUnit.SECONDS));
        } finally {
            end.countDown();
        }
    }

    /// The API does not reply: 512 reports wait, and one is being sent.
    @Test
    void moreThanThePodsOfANodeDoNotWait() throws InterruptedException {
        CountDownLatch answers = new CountDownLatch(1);
        CountDownLatch waited = new CountDownLatch(512);
        AtomicInteger all = new AtomicInteger();
        PodEvents silent = (_, _) -> {
            try {
                answers.await();
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
            all.incrementAndGet();
            waited.countDown();
        };
        try (PodHealth many = new PodHealth(new PublishedPods(folder), silent, new PrometheusRegistry())) {
            for (int i = 0; i < 5_000; i++) {
                many.report(POD, "Reason", "text");
            }
            answers.countDown();
            assertTrue(waited.await(10, TimeUnit.SECONDS), () -> all + " were told");
        }
        assertTrue(all.get() <= 513, () -> all + " were told");
    }
}

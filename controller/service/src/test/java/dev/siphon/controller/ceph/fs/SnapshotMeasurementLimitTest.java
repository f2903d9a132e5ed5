package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class SnapshotMeasurementLimitTest {
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final Duration LONG = Duration.ofSeconds(30);

    private final SnapshotMeasurementLimit turns = new SnapshotMeasurementLimit();
    private final CountDownLatch end = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        end.countDown();
        threads.close();
    }

    /// Starts measurements of this many snapshots of a cluster, which last until the test ends.
    private void hang(String cluster, int count) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            var _ = CompletableFuture.runAsync(
                    () -> {
                        long _ = turns.take(cluster, LONG, () -> {
                            begun.countDown();
                            return awaitEnd();
                        });
                    },
                    threads);
        }
        begun.await();
    }

    private long awaitEnd() {
        try {
            end.await();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return 0;
    }

    private String refused(String cluster) {
        return assertThrows(DriverException.BackendUnavailable.class, () -> turns.take(cluster, SHORT, () -> 1))
                .getMessage();
    }

    @Test
    void aClusterThatHangsHoldsUpNoOther() throws InterruptedException {
        hang("a", 3);
        assertTrue(refused("a").contains("3 others of cluster a"));
        hang("b", 3);
        assertEquals(1, turns.take("c", SHORT, () -> 1));
    }

    @Test
    void fewAreMeasuredAtOnceInAll() throws InterruptedException {
        hang("a", 3);
        hang("b", 3);
        hang("c", 2);
        assertTrue(refused("d").contains("8 others are"));
        assertThrows(DriverException.BackendUnavailable.class, () -> turns.take("c", SHORT, () -> 1));
    }

    @Test
    void whatFailsGivesItsTurnBack() {
        for (int i = 0; i < 10; i++) {
            assertThrows(
                    DriverException.DeadlinePassed.class,
                    () -> turns.take("a", SHORT, () -> {
                        throw new DriverException.DeadlinePassed("the MDS hangs");
                    }));
        }
        assertEquals(1, turns.take("a", SHORT, () -> 1));
    }
}

package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class CephFileSystemsTest {
    @Test
    void fewSnapshotsAreMeasuredAtOnce() throws InterruptedException {
        CountDownLatch measuring = new CountDownLatch(4);
        CountDownLatch end = new CountDownLatch(1);
        try (CephFileSystems fileSystems = new CephFileSystems(
                        _ -> {
                            throw new DriverException.BackendUnavailable("there is no cluster");
                        },
                        CephLab.identity(),
                        CallLimits.DEFAULT,
                        () -> Duration.ofMillis(50),
                        CephLab.metrics());
                ExecutorService threads = Executors.newFixedThreadPool(4)) {
            for (int i = 0; i < 4; i++) {
                var _ = CompletableFuture.runAsync(
                        () -> {
                            long _ = fileSystems.inTurn(() -> {
                                measuring.countDown();
                                assertEquals(true, await(end));
                                return 1;
                            });
                        },
                        threads);
            }
            measuring.await();
            assertThrows(DriverException.BackendUnavailable.class, () -> fileSystems.inTurn(() -> 1));
            end.countDown();
        }
    }

    private static boolean await(CountDownLatch latch) {
        try {
            latch.await();
            return true;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}

package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class CapabilityProbesTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final CephMetrics metrics = new CephMetrics(new PrometheusRegistry());
    private final CapabilityProbes probes = new CapabilityProbes(
            _ -> {
                throw new LinkageError("libcephfs");
            },
            () -> PATIENCE,
            metrics);

    /// An account whose mark cannot be read must not count as not frozen.
    @Test
    void anErrorWhileReadingAnAttributeIsNotAnAbsentAttribute() {
        SubvolumeGroup group = new SubvolumeGroup("lab", "fs", "g");
        assertThrows(IllegalStateException.class, () -> probes.attribute(group, group.path(), "user.note"));
    }

    @Test
    void aChangeDoesNotRunAfterAnErrorOfItsProbe() {
        SubvolumeGroup group = new SubvolumeGroup("lab", "fs", "g");
        assertThrows(
                IllegalStateException.class,
                () -> probes.change(group, () -> {
                    throw new AssertionError("ran");
                }));
    }

    @Test
    void anAccountWhoseProbeCannotStartMayAskAgain() {
        SubvolumeGroup group = new SubvolumeGroup("lab", "fs", "g");
        List<Runnable> refusals = List.of(
                () -> {
                    throw new OutOfMemoryError("unable to create native thread");
                },
                () -> {
                    throw new RejectedExecutionException("no carrier");
                });
        for (Runnable noThread : refusals) {
            AtomicBoolean refused = new AtomicBoolean();
            CapabilityProbes starved = new CapabilityProbes(
                    _ -> {
                        throw new DriverException.AccessDenied("asked");
                    },
                    () -> PATIENCE,
                    metrics,
                    probe -> {
                        if (!refused.getAndSet(true)) {
                            noThread.run();
                        }
                        Thread.startVirtualThread(probe);
                    });
            assertThrows(DriverException.BackendUnavailable.class, () -> starved.read(group));
            assertThrows(DriverException.AccessDenied.class, () -> starved.read(group));
        }
    }

    @Test
    void whoWaitsForAnothersProbeIsNotRefusedForItsVolume() throws InterruptedException {
        VolumeId.Provisioned volume = new VolumeId.Provisioned("lab", "fs", "g", "v");
        SubvolumeGroup group = SubvolumeGroup.of(volume);
        CountDownLatch sent = new CountDownLatch(1);
        CompletableFuture<DriverException> ofVolume = new CompletableFuture<>();
        AtomicBoolean arrived = new AtomicBoolean();
        List<CapabilityProbes> shared = new ArrayList<>();
        shared.add(new CapabilityProbes(
                _ -> {
                    if (sent.getCount() == 0) {
                        throw new DriverException.AccessDenied("the group");
                    }
                    sent.countDown();
                    throw ofVolume.join();
                },
                () -> {
                    // the probe of the volume begins when the caller with the group has arrived
                    if (!arrived.getAndSet(true)) {
                        Thread.startVirtualThread(() -> shared.getFirst().remove(volume, () -> {}));
                        join(sent);
                    }
                    return PATIENCE;
                },
                metrics));
        CompletableFuture<String> refusal = new CompletableFuture<>();
        Thread waits = Thread.ofPlatform()
                .start(() -> refusal.complete(String.valueOf(assertThrows(
                                DriverException.class, () -> shared.getFirst().read(group))
                        .getMessage())));
        while (waits.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        ofVolume.complete(new DriverException.AccessDenied("the volume"));
        assertEquals("the group", refusal.join());
        waits.join();
    }

    private static void join(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            throw new AssertionError(stopped);
        }
    }
}

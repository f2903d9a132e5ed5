package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.kubernetes.PersistentVolumes.Standing;
import dev.siphon.csi.VolumeId;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class PersistentVolumesTest {
    private static final VolumeId.Provisioned VOLUME = new VolumeId.Provisioned("lab", "cephfs", "a1", "v1");

    @Test
    void allAreListedMoreAndMoreSeldom(@TempDir Path folder) {
        AtomicLong now = new AtomicLong();
        try (TestCluster cluster = TestCluster.inMemory(folder);
                KubernetesApi api = new KubernetesApi(cluster.access(), () -> TestCluster.PATIENT)) {
            cluster.admin()
                    .persistentVolumes()
                    .resource(new PersistentVolumeBuilder()
                            .withNewMetadata()
                            .withName("pvc-1")
                            .endMetadata()
                            .withNewSpec()
                            .withNewCsi()
                            .withDriver("cephfs.siphon.dev")
                            .withVolumeHandle(VOLUME.toString())
                            .endCsi()
                            .withNewClaimRef()
                            .withNamespace("u1")
                            .withName("data")
                            .endClaimRef()
                            .endSpec()
                            .build())
                    .create();
            PersistentVolumes volumes = new PersistentVolumes(api, "cephfs.siphon.dev", now::get);
            Map<VolumeId.Provisioned, Standing> found = Map.of(VOLUME, new Standing("pvc-1", Optional.of("u1")));
            assertEquals(found, volumes.news());
            for (int seconds : new int[] {5, 10, 20, 40, 60, 60}) {
                assertEquals(Map.of(), volumes.news());
                now.addAndGet(Duration.ofSeconds(seconds).toNanos() - 1);
                assertEquals(Map.of(), volumes.news(), "before " + seconds + " s have gone by");
                now.addAndGet(1);
                assertEquals(found, volumes.news(), "after " + seconds + " s");
            }
        }
    }
}

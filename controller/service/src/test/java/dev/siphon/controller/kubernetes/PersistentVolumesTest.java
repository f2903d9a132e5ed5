package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.kubernetes.PersistentVolumes.ClaimKey;
import dev.siphon.controller.kubernetes.PersistentVolumes.KnownVolume;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.VolumeId;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class PersistentVolumesTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String DRIVER = "cephfs.siphon.dev";
    private static final VolumeId.Provisioned VOLUME = new VolumeId.Provisioned("lab", "cephfs", "a1", "v1");
    private static final VolumeId.DatasetVolume DATASET = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789".repeat(4), Optional.of("0123456789ab"), "/datasets/x");
    private static final ClaimKey CLAIM = new ClaimKey("u1", "data");

    private static PersistentVolume object(String name, String driver, VolumeId volume, String phase) {
        return new PersistentVolumeBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withNewCsi()
                .withDriver(driver)
                .withVolumeHandle(volume.toString())
                .endCsi()
                .withNewClaimRef()
                .withNamespace(CLAIM.namespace())
                .withName(CLAIM.name())
                .endClaimRef()
                .endSpec()
                .withNewStatus()
                .withPhase(phase)
                .endStatus()
                .build();
    }

    @Test
    void theyAreFoundByVolumeAndClaimWithoutAnotherRequest(@TempDir Path folder) {
        InMemoryApiServer server = new InMemoryApiServer();
        BackgroundTasks tasks = new BackgroundTasks();
        try (TestCluster cluster = TestCluster.inMemory(folder, server);
                KubernetesApi api = new KubernetesApi(cluster.access(), () -> TestCluster.PATIENT)) {
            PersistentVolumes volumes = new PersistentVolumes(api, DRIVER);
            assertEquals(Optional.empty(), volumes.of(VOLUME), "before it is followed each reading lists");
            try (BackgroundTasks.Task _ = volumes.follow(tasks, () -> {})) {
                var one = cluster.admin().persistentVolumes().resource(object("pvc-1", DRIVER, VOLUME, "Bound"));
                one.create();
                KnownVolume standing = new KnownVolume("pvc-1", Optional.of(VOLUME), Optional.of(CLAIM));
                CephLab.await(SOON, () -> volumes.of(VOLUME).equals(Optional.of(standing)));
                assertEquals(Optional.of(standing), volumes.of(CLAIM));
                assertEquals(Set.of(VOLUME), volumes.volumes());

                long before = server.requests();
                for (int reading = 0; reading < 100; reading++) {
                    assertEquals(Optional.empty(), volumes.of(new ClaimKey("u1", "other" + reading)));
                }
                assertEquals(before, server.requests());

                one.delete();
                CephLab.await(SOON, () -> volumes.of(VOLUME).isEmpty());
                assertEquals(Optional.empty(), volumes.of(CLAIM));
            }
            assertEquals(Map.of(), tasks.failures());
        }
    }

    @Test
    void aReleasedOneIsForNoClaim(@TempDir Path folder) {
        try (TestCluster cluster = TestCluster.inMemory(folder);
                KubernetesApi api = new KubernetesApi(cluster.access(), () -> TestCluster.PATIENT)) {
            cluster.admin()
                    .persistentVolumes()
                    .resource(object("pvc-1", DRIVER, VOLUME, "Released"))
                    .create();
            PersistentVolumes volumes = new PersistentVolumes(api, DRIVER);
            assertEquals(Optional.empty(), volumes.of(CLAIM));
            assertEquals(
                    Optional.of(new KnownVolume("pvc-1", Optional.of(VOLUME), Optional.empty())), volumes.of(VOLUME));
        }
    }

    @Test
    void anotherDriversOneIsNoVolume(@TempDir Path folder) {
        try (TestCluster cluster = TestCluster.inMemory(folder);
                KubernetesApi api = new KubernetesApi(cluster.access(), () -> TestCluster.PATIENT)) {
            cluster.admin()
                    .persistentVolumes()
                    .resource(object("pvc-1", "cephfs.csi.ceph.com", DATASET, "Bound"))
                    .create();
            PersistentVolumes volumes = new PersistentVolumes(api, DRIVER);
            assertEquals(
                    Optional.of(new KnownVolume("pvc-1", Optional.empty(), Optional.of(CLAIM))), volumes.of(CLAIM));
            volumes.eachOfDatasets((claim, dataset) -> {
                throw new AssertionError(claim + " shows " + dataset);
            });
        }
    }
}

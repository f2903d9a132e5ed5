package dev.siphon.e2e.isolation;

import static dev.siphon.e2e.isolation.DeclaredDatasets.READING;
import static dev.siphon.e2e.isolation.DeclaredDatasets.forPodOf;
import static dev.siphon.e2e.isolation.DeclaredDatasets.request;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.Volume;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Lab;
import io.grpc.Status.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// PersistentVolumes written by hand, with a path and one of Siphon's Secrets. They open no dataset except to its
/// readers, and no volume except the Secret's.
@ExtendWith(LeavesNothingBehind.class)
final class StaticVolumesIT {
    @TempDir
    private Path folder = Path.of("");

    private DeclaredDatasets datasets;

    @BeforeEach
    void pack() throws IOException {
        datasets = new DeclaredDatasets(folder);
        datasets.declare("u1");
    }

    @AfterEach
    void remove() throws IOException {
        datasets.close();
    }

    private static Volume byHand(String path) {
        return Volume.newBuilder()
                .setVolumeId("static:lab:" + Lab.here().fileSystem() + ":" + path)
                .putVolumeContext("monitors", Lab.here().monitors())
                .build();
    }

    /// Uses a key that opens the dataset: Ceph lets its holder mount the directory.
    @Test
    void noPathLeadsToADatasetButByItsReaders() throws IOException {
        try (KeyedDriver driver = datasets.start()) {
            Volume dataset = driver.volume(request("pvc-1", "u1/mine", "user-u1"));
            NodeMounts thief = driver.mountsWith(dataset, "thief");
            Volume fixed = byHand(datasets.path("mine"));
            thief.stage(fixed, READING).get();
            for (String namespace : new String[] {"user-u1", "user-u2"}) {
                assertRefused(
                        "datasets lie at", thief.publish(forPodOf(namespace, fixed), READING, "pod-" + namespace));
            }

            NodeMounts reader = driver.mountsWithSecretOf(dataset, "reader");
            reader.stage(dataset, READING).get();
            reader.publish(forPodOf("user-u1", dataset), READING, "pod").get();
            assertArrayEquals(
                    datasets.picture(),
                    Files.readAllBytes(reader.target(dataset, "pod").resolve("class/picture")));
        }
    }

    /// In each case the key opens what the id names, so the refusal comes from the node.
    @Test
    void aSecretStagesTheVolumeThatItIsForAlone() throws IOException {
        try (KeyedDriver driver = datasets.start()) {
            Volume dataset = driver.volume(request("pvc-1", "u1/mine", "user-u1"));
            Volume own = driver.volume("plain", "u1");
            NodeMounts ofDataset = driver.mountsWithSecretOf(dataset, "dataset");
            assertRefused("for another volume", ofDataset.stage(byHand(datasets.path("mine")), READING));

            Volume data =
                    byHand(own.getVolumeContextOrThrow("mountPath") + "/" + own.getVolumeContextOrThrow("dataPath"));
            NodeMounts ofVolume = driver.mountsWithSecretOf(own, "volume");
            assertRefused("for another volume", ofVolume.stage(data, Requests.shared()));
            ofVolume.mount(own);
            assertRefused("for another volume", ofDataset.publish(own, Requests.shared(), "pod"));

            // Secrets of earlier versions looked like this
            driver.mountsWith(own, "before").mount(own);
            driver.mountsWith(own, "by-hand").mount(data);
        }
    }

    private static void assertRefused(String why, Outcome<?> outcome) {
        assertEquals(Code.PERMISSION_DENIED, outcome.code(), outcome::message);
        assertTrue(outcome.message().contains(why), outcome::message);
    }
}

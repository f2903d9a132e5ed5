package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephTree;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/// A snapshot becomes a sealed dataset, which a claim shows: dataset-snapshot.yaml.
@Tag("kubernetes")
@AloneOnCluster
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class SealedSnapshotIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String DATASET = "u62.training-v1";

    @SuppressWarnings("NullAway.Init")
    private static Tenant owner;

    @SuppressWarnings("NullAway.Init")
    private static Tenant stranger;

    @BeforeAll
    static void seal() {
        SnapshotController.addTo(Installation.in(CLUSTER), CLUSTER);
        owner = Tenant.ofAccount(CLUSTER, 62);
        stranger = Tenant.ofAccount(CLUSTER, 63);
        var _ = owner.claim("training", "1Gi");
        var _ = owner.pod("writer", "for n in 1 2 3; do echo $n >/data/$n; done")
                .withClaim("training")
                .create()
                .succeeded();
        new Examples(owner).apply("dataset-snapshot.yaml");
        SnapshotController.awaitReady(owner, "training-v1");
    }

    @AfterAll
    static void end() {
        owner.deleteSnapshots();
        stranger.close();
        owner.close();
    }

    @Test
    @Order(1)
    void aPodReadsWhatTheVolumeHadAndCannotWrite() {
        String log = owner.podCalled("training-v1").succeeded().log();

        // a container's stdout and stderr interleave in any order
        assertTrue(log.lines().map(String::strip).anyMatch("3"::equals), log);
        assertTrue(log.contains("Read-only file system"), log);
    }

    @Test
    @Order(1)
    void itsEventSaysThatItIsADataset() {
        String described = CLUSTER.kubectl("-n", owner.namespace(), "describe", "volumesnapshot", "training-v1");

        assertTrue(
                Pattern.compile("DatasetSealed .* is dataset u62.training-v1")
                        .matcher(described)
                        .find(),
                described);
        // the controller finds it with its next check of datasets
        Pattern ready = Pattern.compile("(?m)^u62.training-v1 +true .*\\[\"u62\"\\]");
        var _ = Await.until(
                "kubectl get datasets shows it as ready",
                Cluster.PATIENCE,
                () -> ready.matcher(CLUSTER.kubectl("get", "datasets")).find());
    }

    @Test
    @Order(1)
    void whoIsNoReaderIsRefused() {
        String refusal = "code = PermissionDenied desc = .*is no reader of dataset u62.training-v1";
        TestClaim claim = stranger.datasetClaim("stolen", "u62/training-v1");
        TestPod pod =
                stranger.pod("stolen", "true").withDataset("u62/training-v1").create();

        var _ = claim.told(refusal);
        var _ = pod.told(refusal);
    }

    @Test
    @Order(1)
    void nothingIsLeftOfItsPacker() {
        assertEquals(List.of(), PackersLeft.packers(CLUSTER));
    }

    /// As if the packer or its node had written other data than it reported.
    @Test
    @Order(1)
    void anImageThatIsNotWhatItsManifestSaysIsNoDataset() throws IOException {
        List<String> before = PackersLeft.images(CLUSTER);
        try (CephTree tree = CephTree.mount(CLUSTER.lab())) {
            CLUSTER.apply(owner.namespace(), """
                    {"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot",
                     "metadata": {"name": "swapped"}, "spec": {"volumeSnapshotClassName": "siphon-dataset",
                      "source": {"persistentVolumeClaimName": "training"}}}""");
            swapAByte(tree, before);
        }
        String refused = CLUSTER.awaitEvent(
                owner.namespace(), "swapped", "was read back and is refused: .* is not what its manifest says");

        assertTrue(refused.contains("DatasetNotSealed"), refused);
        assertEquals(
                "false",
                CLUSTER.kubectl(
                                "-n",
                                owner.namespace(),
                                "get",
                                "volumesnapshot",
                                "swapped",
                                "-o",
                                "jsonpath={.status.readyToUse}")
                        .strip());
        assertFalse(CLUSTER.kubectl("get", "datasets", "-o", "name").contains("u62.swapped"));
        var _ = CLUSTER.kubectl("-n", owner.namespace(), "delete", "volumesnapshot", "swapped");
        assertEquals(List.of(), PackersLeft.packers(CLUSTER));
        assertEquals(before, PackersLeft.images(CLUSTER));
    }

    /// As if an earlier version had sealed it.
    @Test
    @Order(1)
    void anImageThatWasNeverReadBackIsReadBackOnceAndServedMeanwhile() {
        assertEquals("done", readBack(DATASET));
        forget(DATASET);
        var _ = Await.until(
                "it is read back",
                Cluster.PATIENCE,
                () -> PackersLeft.packers(CLUSTER).stream()
                        .anyMatch(each -> each.startsWith("job.batch/") && each.endsWith("-check")));
        var _ = owner.pod("meanwhile", "grep 3 /data/3")
                .withDataset("u62/training-v1")
                .create()
                .succeeded();
        var _ = Await.until(
                "it was read back", Cluster.PATIENCE, () -> readBack(DATASET).equals("done"));
        var _ = Await.until(
                "nothing is left of that",
                Cluster.PATIENCE,
                () -> PackersLeft.packers(CLUSTER).isEmpty());
    }

    /// As if the packer had kept its mount and written after an earlier version sealed the image.
    @Test
    @Order(1)
    void anImageThatWasChangedBeforeItIsReadBackIsRefused() throws IOException {
        List<String> before = PackersLeft.images(CLUSTER);
        CLUSTER.apply(owner.namespace(), """
                {"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot",
                 "metadata": {"name": "bent"}, "spec": {"volumeSnapshotClassName": "siphon-dataset",
                  "source": {"persistentVolumeClaimName": "training"}}}""");
        SnapshotController.awaitReady(owner, "bent");
        try (CephTree tree = CephTree.mount(CLUSTER.lab())) {
            swapTheLastByte(tree.at(get("u62.bent", ".spec.path")));
        }
        forget("u62.bent");

        String told = CLUSTER.awaitEvent(
                owner.namespace(), "bent", "was read back and is refused: .* is not what its manifest says");

        assertTrue(told.contains("DatasetNotSealed"), told);
        assertTrue(readBack("u62.bent").startsWith("refused: "), () -> readBack("u62.bent"));
        var _ = owner.pod("bent", "true")
                .withDataset("u62/bent")
                .create()
                .told("code = FailedPrecondition desc = .*was read back and is refused");
        var _ = owner.datasetClaim("bent", "u62/bent")
                .told("code = FailedPrecondition desc = .*was read back and is refused");
        var _ = Await.until(
                "the Dataset is not ready",
                Cluster.PATIENCE,
                () -> get("u62.bent", ".status.ready").equals("false")
                        && get("u62.bent", ".status.message").contains("is refused"));
        owner.podCalled("bent").delete();
        owner.claimCalled("bent").delete();
        var _ = CLUSTER.kubectl("-n", owner.namespace(), "delete", "volumesnapshot", "bent");
        assertEquals(List.of(), PackersLeft.packers(CLUSTER));
        assertEquals(before, PackersLeft.images(CLUSTER));
    }

    private static void forget(String dataset) {
        var _ = CLUSTER.kubectl(
                "patch",
                "dataset",
                dataset,
                "--subresource=status",
                "--type=merge",
                "-p",
                "{\"status\":{\"readBack\":null}}");
    }

    private static String readBack(String dataset) {
        return get(dataset, ".status.readBack");
    }

    private static String get(String dataset, String field) {
        return CLUSTER.kubectl("get", "dataset", dataset, "-o", "jsonpath={" + field + "}")
                .strip();
    }

    /// Changes a byte as soon as the manifest exists.
    private static void swapAByte(CephTree tree, List<String> others) throws IOException {
        AtomicReference<Path> made = new AtomicReference<>(tree.at("/datasets"));
        var _ = Await.until("an image is made", Cluster.PATIENCE, () -> {
            List<String> images = new ArrayList<>(PackersLeft.images(tree));
            images.removeAll(others);
            images.forEach(each -> made.set(tree.at("/datasets/" + each)));
            return Files.exists(made.get().resolve("image.manifest"));
        });
        swapTheLastByte(made.get());
    }

    private static void swapTheLastByte(Path directory) throws IOException {
        try (RandomAccessFile image =
                new RandomAccessFile(directory.resolve("image").toFile(), "rw")) {
            image.seek(image.length() - 1);
            int last = image.read();
            image.seek(image.length() - 1);
            image.write(last ^ 1);
        }
    }

    @Test
    @Order(2)
    void itIsDeletedWhenNobodyHasIt() {
        var _ = CLUSTER.kubectl("-n", owner.namespace(), "delete", "volumesnapshot", "training-v1", "--wait=false");
        var _ = CLUSTER.awaitEvent(
                owner.namespace(), "training-v1", "u62.training-v1 is in use by PersistentVolume pvc-");

        owner.podCalled("training-v1").delete();
        owner.claimCalled("training-v1").delete();

        var _ = CLUSTER.kubectl(
                "-n", owner.namespace(), "wait", "--for=delete", "--timeout=120s", "volumesnapshot/training-v1");
        assertEquals(
                List.of(),
                Stream.of(
                                PackersLeft.packers(CLUSTER),
                                PackersLeft.images(CLUSTER),
                                CLUSTER.kubectl("get", "datasets", "-o", "name")
                                        .lines()
                                        .filter(each -> each.endsWith("/" + DATASET))
                                        .toList())
                        .flatMap(List::stream)
                        .toList());
    }
}

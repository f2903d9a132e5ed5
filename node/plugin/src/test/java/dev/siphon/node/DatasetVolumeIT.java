package dev.siphon.node;

import static dev.siphon.node.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.node.kubernetes.FakeApi;
import dev.siphon.node.linux.LoopStatus;
import dev.siphon.node.linux.Workplace;
import io.grpc.Status.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Sealed datasets over the node's socket, on a real Ceph: ceph-fuse in the lab, the kernel client in a guest.
class DatasetVolumeIT {
    private static Optional<SealedDataset> made = Optional.empty();

    private final Workplace workplace = Workplace.create();
    private final Path cache = workplace.directory("cache");
    private final Lab.Volume dataset = sealed().volume();
    private NodeProcess node = start();
    private Path staging = Path.of("/");
    private Path target = Path.of("/");

    private NodeProcess start() {
        return NodeProcess.start(workplace.directory("node"), "--cache-dir=" + cache + "=1Gi");
    }

    @BeforeAll
    static void seal() throws IOException {
        made = Optional.of(SealedDataset.create(40));
    }

    private static SealedDataset sealed() {
        return made.orElseThrow();
    }

    @BeforeEach
    void makePaths() {
        staging = workplace.directory("staging");
        workplace.directory("pod");
        target = workplace.path("pod/target");
    }

    @AfterEach
    void leaveNothing() {
        node.close();
        workplace.close();
    }

    private void stage(Path where) {
        var _ = node.stub().nodeStageVolume(Requests.stage(dataset, where, Mode.MULTI_NODE_READER_ONLY));
    }

    private void publish(Path where) {
        var _ = node.stub().nodePublishVolume(Requests.publish(dataset, staging, where, Mode.MULTI_NODE_READER_ONLY));
    }

    private static void assertWhole(Path tree) throws IOException {
        sealed().assertWhole(tree);
    }

    private static List<LoopStatus> devices() {
        return sealed().devices();
    }

    private void awaitLocal() {
        OpsPages.await(() -> sealed().isReadFrom(cache));
    }

    @Test
    void aDatasetIsReadAtOnceAndFromTheDiskAfterwards() throws IOException {
        stage(staging);
        publish(target);
        assertWhole(target);
        awaitLocal();
        assertWhole(target);
        assertThrows(IOException.class, () -> Files.writeString(target.resolve("new"), "new"));
        assertTrue(node.stub()
                        .nodeGetVolumeStats(Requests.stats(dataset, target))
                        .getUsage(0)
                        .getTotal()
                > 0);
        node.unpublishAndUnstage(dataset, staging, target);
        assertFalse(Files.exists(target));
        assertEquals(List.of(), workplace.mounts());
        assertEquals(List.of(), devices());
        assertEquals(List.of(), Lab.clientsOf(dataset.id()));
    }

    @Test
    void volumesOfOneDatasetShareItsTree() throws IOException {
        Path second = workplace.directory("second");
        stage(staging);
        stage(staging);
        stage(second);
        assertEquals(1, devices().size());
        // a kubelet never unstages a path whose device and root are mounted elsewhere too
        assertFalse(workplace.mounts().contains(staging.toString()), () -> "mounted at the staging path itself");
        assertTrue(workplace.mounts().contains(staging.resolve("tree").toString()));
        var _ = node.stub().nodeUnstageVolume(Requests.unstage(dataset, staging));
        try (Stream<Path> left = Files.list(staging)) {
            assertEquals(List.of(), left.toList());
        }
        assertWhole(second.resolve("tree"));
        var _ = node.stub().nodeUnstageVolume(Requests.unstage(dataset, second));
        assertEquals(List.of(), devices());
    }

    @Test
    void aKilledNodeDisturbsNoReaderAndTakesAllAwayLater() throws IOException {
        stage(staging);
        publish(target);
        node.kill();
        assertWhole(target);
        node = start();
        awaitLocal();
        assertWhole(target);
        node.kill();
        node = start();
        node.unpublishAndUnstage(dataset, staging, target);
        assertEquals(List.of(), workplace.mounts());
        assertEquals(List.of(), devices());
    }

    @Test
    void aDatasetWithoutItsReplicaIsReadAndItsHealthSaysSo() throws IOException {
        node.close();
        node = NodeProcess.start(workplace.directory("node"), "--cache-dir=" + workplace.path("small") + "=1Mi");
        stage(staging);
        publish(target);
        OpsPages.await(() -> node.health(dataset).equals("[ReplicaFailed]"));
        assertWhole(target);
        node.unpublishAndUnstage(dataset, staging, target);
        assertEquals(List.of(), workplace.mounts());
    }

    private NodeProcess startWith(FakeApi api) {
        return NodeProcess.start(
                workplace.directory("node"),
                "--kubernetes-namespace=" + FakeApi.NAMESPACE,
                "--kubeconfig=" + api.kubeconfig(workplace.directory("config")));
    }

    @Test
    void aPodIsToldThatItsNamespaceIsNoReaderAnyMoreAndReadsOn() throws IOException {
        node.close();
        try (FakeApi api = FakeApi.start()) {
            api.publish(sealed().readBy("vision"));
            node = startWith(api);
            stage(staging);
            var _ = node.stub()
                    .nodePublishVolume(
                            Requests.publishForPod(dataset, staging, target, Mode.MULTI_NODE_READER_ONLY, "vision"));
            var _ = node.stub().nodeGetVolumeStats(Requests.stats(dataset, target));
            assertEquals(List.of(), api.events());
            api.publish(sealed().readBy("other"));
            // a node that asked a moment ago would ask again only after a minute
            node.close();
            node = startWith(api);
            OpsPages.await(() -> {
                var _ = node.stub().nodeGetVolumeStats(Requests.stats(dataset, target));
                return !api.events().isEmpty();
            });
            assertEquals(
                    "VolumeAccessWithdrawn",
                    api.events().getFirst().get("reason").getAsString());
            assertWhole(target);
            node.unpublishAndUnstage(dataset, staging, target);
        }
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void anotherImageThanThatOfTheIdIsRefused() {
        Lab.Volume other = sealed().volumeOf("0123456789".repeat(4));
        String said = refused(
                Code.FAILED_PRECONDITION,
                () -> node.stub().nodeStageVolume(Requests.stage(other, staging, Mode.MULTI_NODE_READER_ONLY)));
        assertTrue(said.contains("holds another dataset"), said);
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void aDatasetIsForReadersOnly() {
        refused(
                Code.FAILED_PRECONDITION,
                () -> node.stub().nodeStageVolume(Requests.stage(dataset, staging, Mode.MULTI_NODE_MULTI_WRITER)));
        assertEquals(List.of(), workplace.mounts());
    }
}

package dev.siphon.node;

import static dev.siphon.node.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.csi.Grants;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.image.ImagePacker;
import dev.siphon.node.image.Modes;
import dev.siphon.node.image.PackListener;
import dev.siphon.node.image.PackRequest;
import dev.siphon.node.kubernetes.FakeApi;
import dev.siphon.node.linux.LoopDevice;
import dev.siphon.node.linux.LoopStatus;
import dev.siphon.node.pod.Pod;
import io.grpc.Status.Code;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Sealed datasets over the node's socket, on a real Ceph: in the lab over ceph-fuse, in a guest over the
/// kernel's client.
class DatasetVolumeIT {
    private static final long MIB = 1 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final PackListener NOBODY = new PackListener() {
        @Override
        public void walked(long entries) {}

        @Override
        public void leftOut(long count, List<String> first) {}

        @Override
        public void packed(long done, long all) {}
    };
    private static final Map<String, Digest> FILES = new HashMap<>();
    private static Lab.Volume home = new Lab.Volume(VolumeId.parse("static:lab:fs:/none"), "/none", Map.of(), Map.of());
    private static Lab.Volume dataset = home;

    private final Workplace workplace = Workplace.create();
    private final Path cache = workplace.directory("cache");
    private NodeProcess node = start();
    private Path staging = Path.of("/");
    private Path target = Path.of("/");

    private NodeProcess start() {
        return NodeProcess.start(workplace.directory("node"), "--cache-dir=" + cache + "=1Gi");
    }

    /// An administrator packs what is in one volume into another.
    @BeforeAll
    static void seal() throws IOException {
        home = Lab.createVolume(Lab.createGroup(256 * MIB), 128 * MIB);
        try (Workplace workplace = Workplace.create();
                NodeProcess node = NodeProcess.start(workplace.directory("node"))) {
            Path source = workplace.directory("source");
            Random random = new Random(1);
            for (int file = 0; file < 40; file++) {
                byte[] content = new byte[random.nextInt(400_000)];
                random.nextBytes(content);
                Path folder = Files.createDirectories(source.resolve("class-" + file % 4));
                Files.write(folder.resolve("image-" + file), content);
                FILES.put("class-" + file % 4 + "/image-" + file, Digest.of(ByteBuffer.wrap(content)));
            }
            Path staging = workplace.directory("staging");
            var _ = node.stub().nodeStageVolume(Requests.stage(home, staging));
            Manifest manifest =
                    new ImagePacker(NOBODY).pack(new PackRequest(source, staging.resolve("image"), Modes.READABLE, 4));
            var _ = node.stub().nodeUnstageVolume(Requests.unstage(home, staging));
            dataset = volume(manifest.root().beginning());
        }
    }

    private static Lab.Volume volume(String digest) {
        return new Lab.Volume(
                new VolumeId.Dataset("lab", Lab.fileSystem(), digest, Optional.empty(), home.path()),
                home.path(),
                Map.of("monitors", Lab.monitors(), "mounter", Lab.mounter()),
                home.secrets());
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
        for (Map.Entry<String, Digest> file : FILES.entrySet()) {
            byte[] content = Files.readAllBytes(tree.resolve(file.getKey()));
            assertEquals(file.getValue(), Digest.of(ByteBuffer.wrap(content)), file.getKey());
        }
    }

    private static List<LoopStatus> devices() {
        String digest = ((VolumeId.Dataset) dataset.id()).digest();
        return LoopDevice.all(Set.of()).stream()
                .filter(device -> device.tag().contains(digest))
                .toList();
    }

    private boolean isLocal() throws IOException {
        try (var folders = Files.list(cache)) {
            List<Long> replicas = folders.flatMap(folder -> inode(folder.resolve("image")).stream())
                    .toList();
            return devices().stream()
                    .anyMatch(device -> replicas.contains(device.backing().inode()));
        }
    }

    private static Optional<Long> inode(Path file) {
        try {
            return Optional.of((Long) Files.getAttribute(file, "unix:ino"));
        } catch (NoSuchFileException _) {
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void awaitLocal() throws IOException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!isLocal()) {
            assertTrue(System.nanoTime() < end, () -> "no replica behind the tree: " + node.log());
            Thread.onSpinWait();
        }
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
        // a kubelet would never unstage what shares its device and root with a mount anywhere else
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

    private static String readBy(String... namespaces) {
        Grants.Shared shared =
                new Grants.Shared((VolumeId.Dataset) dataset.id(), false, new TreeSet<>(List.of(namespaces)));
        return new Grants(Map.of(), Map.of("mine", shared)).toJson();
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
            api.publish(readBy("vision"));
            node = startWith(api);
            stage(staging);
            var _ = node.stub()
                    .nodePublishVolume(
                            Requests.publish(dataset, staging, target, Mode.MULTI_NODE_READER_ONLY).toBuilder()
                                    .putVolumeContext(Pod.NAMESPACE, "vision")
                                    .putVolumeContext(Pod.NAME, "train")
                                    .putVolumeContext(Pod.UID, "17")
                                    .build());
            var _ = node.stub().nodeGetVolumeStats(Requests.stats(dataset, target));
            assertEquals(List.of(), api.events());
            api.publish(readBy("other"));
            // one that has asked a moment ago would ask again in a minute
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
        Lab.Volume other = volume("0123456789".repeat(4));
        String said = refused(
                Code.FAILED_PRECONDITION,
                () -> node.stub().nodeStageVolume(Requests.stage(other, staging, Mode.MULTI_NODE_READER_ONLY)));
        assertTrue(said.contains("is another dataset"), said);
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

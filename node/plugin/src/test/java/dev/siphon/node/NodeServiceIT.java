package dev.siphon.node;

import static dev.siphon.node.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.NodeExpandVolumeRequest;
import csi.v1.NodeGetStorageHealthRequest;
import csi.v1.NodeGetVolumeHealthRequest;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.VolumeCapability.AccessMode.Mode;
import csi.v1.VolumeUsage;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Workplace;
import io.grpc.Status.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The node's RPCs over its socket, against a real Ceph: ceph-fuse in the lab, the kernel client in a guest.
class NodeServiceIT {
    private static final long MIB = 1 << 20;
    private static final long ALLOWANCE = 64 * MIB;

    private static Optional<Lab.Volume> made = Optional.empty();
    private static String group = "";

    private final Workplace workplace = Workplace.create();
    private NodeProcess node = NodeProcess.start(workplace.directory("node"));
    private Path staging = Path.of("/");
    private Path target = Path.of("/");

    @BeforeAll
    static void makeVolume() {
        group = Lab.createGroup(ALLOWANCE);
        made = Optional.of(Lab.createVolume(group, 32 * MIB));
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

    private static Lab.Volume volume() {
        return made.orElseThrow();
    }

    @Test
    void aPublishedVolumeIsWrittenAndReadAndLeavesNothing() throws IOException {
        node.stageAndPublish(volume(), staging, target);
        Files.writeString(target.resolve("hello"), "written");
        assertEquals("written", Files.readString(staging.resolve("hello")));
        node.unpublishAndUnstage(volume(), staging, target);

        assertFalse(Files.exists(target));
        assertTrue(Files.isDirectory(staging));
        assertEquals(List.of(), workplace.mounts());
        assertEquals(List.of(), Lab.clientsOf(volume().id()));
        assertEquals(List.of(), rootsLeft());
    }

    private List<Path> rootsLeft() throws IOException {
        try (var paths = Files.list(workplace.path("node/state/mounts"))) {
            return paths.toList();
        }
    }

    @Test
    void whatWasWrittenIsThereAfterStagingAgain() throws IOException {
        node.stageAndPublish(volume(), staging, target);
        Files.writeString(target.resolve("kept"), "kept");
        node.unpublishAndUnstage(volume(), staging, target);
        node.stageAndPublish(volume(), staging, target);
        assertEquals("kept", Files.readString(target.resolve("kept")));
        node.unpublishAndUnstage(volume(), staging, target);
    }

    @Test
    void everyCallMayBeRepeated() {
        node.stageAndPublish(volume(), staging, target);
        node.stageAndPublish(volume(), staging, target);
        assertEquals(
                2,
                MountTable.read().entries().stream()
                        .filter(entry -> entry.mountPoint().equals(staging.toString())
                                || entry.mountPoint().equals(target.toString()))
                        .count());
        node.unpublishAndUnstage(volume(), staging, target);
        node.unpublishAndUnstage(volume(), staging, target);
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void aKilledNodeFindsItsVolumesAgain() throws IOException {
        node.stub().nodeStageVolume(Requests.stage(volume(), staging));
        node.kill();
        node = NodeProcess.start(workplace.directory("node"));
        node.stageAndPublish(volume(), staging, target);
        Files.writeString(target.resolve("survived"), "yes");
        node.kill();
        assertEquals("yes", Files.readString(target.resolve("survived")));
        node = NodeProcess.start(workplace.directory("node"));
        node.unpublishAndUnstage(volume(), staging, target);
        assertEquals(List.of(), workplace.mounts());
        assertEquals(List.of(), Lab.clientsOf(volume().id()));
    }

    @Test
    void aReadOnlyTargetRefusesWritesWhileAnotherTakesThem() throws IOException {
        node.stageAndPublish(volume(), staging, target);
        Path reader = workplace.path("pod/reader");
        NodePublishVolumeRequest request = Requests.publish(volume(), staging, reader).toBuilder()
                .setReadonly(true)
                .build();
        node.stub().nodePublishVolume(request);
        node.stub().nodePublishVolume(request);
        Files.writeString(target.resolve("shared"), "x");
        assertEquals("x", Files.readString(reader.resolve("shared")));
        assertThrows(IOException.class, () -> Files.writeString(reader.resolve("shared"), "y"));
        refused(
                Code.ALREADY_EXISTS,
                () -> node.stub()
                        .nodePublishVolume(
                                request.toBuilder().setReadonly(false).build()));
        node.stub().nodeUnpublishVolume(Requests.unpublish(volume(), reader));
        node.unpublishAndUnstage(volume(), staging, target);
    }

    @Test
    void aReaderModeStagesReadOnly() {
        node.stub().nodeStageVolume(Requests.stage(volume(), staging, Mode.MULTI_NODE_READER_ONLY));
        node.stub().nodePublishVolume(Requests.publish(volume(), staging, target, Mode.MULTI_NODE_READER_ONLY));
        assertThrows(IOException.class, () -> Files.writeString(target.resolve("no"), "no"));
        refused(Code.ALREADY_EXISTS, () -> node.stub().nodeStageVolume(Requests.stage(volume(), staging)));
        refused(
                Code.FAILED_PRECONDITION,
                () -> node.stub().nodePublishVolume(Requests.publish(volume(), staging, workplace.path("pod/writer"))));
        node.unpublishAndUnstage(volume(), staging, target);
    }

    @Test
    void aSingleWriterIsPublishedOnce() {
        for (Mode mode :
                List.of(Mode.SINGLE_NODE_SINGLE_WRITER, Mode.SINGLE_NODE_WRITER, Mode.SINGLE_NODE_READER_ONLY)) {
            node.stub().nodeStageVolume(Requests.stage(volume(), staging, mode));
            node.stub().nodePublishVolume(Requests.publish(volume(), staging, target, mode));
            node.stub().nodePublishVolume(Requests.publish(volume(), staging, target, mode));
            refused(
                    Code.FAILED_PRECONDITION,
                    () -> node.stub()
                            .nodePublishVolume(
                                    Requests.publish(volume(), staging, workplace.path("pod/second"), mode)));
            assertFalse(Files.exists(workplace.path("pod/second")));
            node.unpublishAndUnstage(volume(), staging, target);
        }
    }

    @Test
    void theSmallerOfVolumeAndAllowanceEndsWriting() throws IOException {
        node.stageAndPublish(volume(), staging, target);
        assertTrue(written(target.resolve("big"), 64 * MIB) < 60 * MIB, "the volume's quota of 32 MiB");
        Files.delete(target.resolve("big"));
        node.unpublishAndUnstage(volume(), staging, target);

        String narrowGroup = Lab.createGroup(ALLOWANCE);
        Lab.Volume wide = Lab.createVolume(narrowGroup, 1024 * MIB);
        Path wideStaging = workplace.directory("wide");
        node.stub().nodeStageVolume(Requests.stage(wide, wideStaging));
        long available = available(wide, wideStaging);
        assertTrue(0 < available && available <= ALLOWANCE, () -> "the account's allowance and not " + available);
        long most = 768 * MIB;
        assertTrue(written(wideStaging.resolve("big"), most) < most, "the account's allowance of 64 MiB");
        assertEquals(0, written(wideStaging.resolve("more"), most), "nothing more once the MDS has counted");
        assertEquals(0, available(wide, wideStaging));
        node.stub().nodeUnstageVolume(Requests.unstage(wide, wideStaging));
    }

    private long available(Lab.Volume volume, Path path) {
        return node.stub()
                .nodeGetVolumeStats(Requests.stats(volume, path))
                .getUsage(0)
                .getAvailable();
    }

    /// Writes up to `most` bytes in pieces of 1 MiB and returns how many succeeded. Each piece is synced, so that
    /// the MDS counts it.
    private static long written(Path file, long most) {
        byte[] piece = new byte[(int) MIB];
        long written = 0;
        try (var channel = java.nio.channels.FileChannel.open(
                file, java.nio.file.StandardOpenOption.CREATE, java.nio.file.StandardOpenOption.WRITE)) {
            while (written < most) {
                channel.write(java.nio.ByteBuffer.wrap(piece));
                channel.force(true);
                written += MIB;
            }
        } catch (IOException e) {
            assertTrue(String.valueOf(e.getMessage()).contains("quota"), () -> "not EDQUOT but " + e);
        }
        return written;
    }

    @Test
    void statsAndExpandTellTheVolumesOwnNumbers() throws IOException {
        node.stageAndPublish(volume(), staging, target);
        Files.write(target.resolve("data"), new byte[(int) (4 * MIB)]);
        var stats = node.stub().nodeGetVolumeStats(Requests.stats(volume(), target));
        VolumeUsage bytes = stats.getUsage(0);
        assertEquals(VolumeUsage.Unit.BYTES, bytes.getUnit());
        assertEquals(32 * MIB, bytes.getTotal());
        assertTrue(bytes.getAvailable() <= 32 * MIB);
        assertEquals(VolumeUsage.Unit.INODES, stats.getUsage(1).getUnit());
        assertTrue(stats.getUsage(1).getTotal() > 0);

        Lab.ceph(
                "fs",
                "subvolume",
                "resize",
                Lab.fileSystem(),
                ((VolumeId.Provisioned) volume().id()).subvolume(),
                Long.toString(48 * MIB),
                "--group_name",
                group);
        var expanded = node.stub()
                .nodeExpandVolume(NodeExpandVolumeRequest.newBuilder()
                        .setVolumeId(volume().id().toString())
                        .setVolumePath(target.toString())
                        .build());
        assertEquals(48 * MIB, expanded.getCapacityBytes());
        Files.delete(target.resolve("data"));
        node.unpublishAndUnstage(volume(), staging, target);
        refused(Code.NOT_FOUND, () -> node.stub().nodeGetVolumeStats(Requests.stats(volume(), target)));
    }

    @Test
    void aNarrowKeyIsEnoughAndReachesNothingElse() throws IOException {
        Lab.Volume narrow = Lab.narrow(Lab.createVolume(group, 32 * MIB));
        node.stub().nodeStageVolume(Requests.stage(narrow, staging));
        Files.writeString(staging.resolve("mine"), "mine");
        assertEquals("mine", Files.readString(staging.resolve("mine")));
        node.stub().nodeUnstageVolume(Requests.unstage(narrow, staging));

        Lab.Volume other = new Lab.Volume(
                new VolumeId.Provisioned("lab", Lab.fileSystem(), Lab.createGroup(MIB), "v"),
                volume().path(),
                Map.of("monitors", Lab.monitors(), "mounter", Lab.mounter()),
                narrow.secrets());
        refused(Code.PERMISSION_DENIED, () -> node.stub().nodeStageVolume(Requests.stage(other, staging)));
        assertEquals(List.of(), workplace.mounts());
        Lab.ceph("auth", "rm", "client." + narrow.secrets().get("userID"));
    }

    @Test
    void aStaticPathIsMountedItself() throws IOException {
        Lab.Volume fixed = new Lab.Volume(
                new VolumeId.Static("lab", Lab.fileSystem(), volume().path()),
                volume().path(),
                Map.of("monitors", Lab.monitors(), "mounter", Lab.mounter()),
                volume().secrets());
        node.stub().nodeStageVolume(Requests.stage(fixed, staging));
        // a kubelet never unstages a path with the device and root of the client's own mount
        assertFalse(workplace.mounts().contains(staging.toString()));
        Files.writeString(staging.resolve("tree/static"), "static");
        assertTrue(node.stub()
                        .nodeGetVolumeStats(Requests.stats(fixed, staging))
                        .getUsage(0)
                        .getTotal()
                > 0);
        node.stub().nodeUnstageVolume(Requests.unstage(fixed, staging));
    }

    @Test
    void aSnapshotIsMountedReadOnly() throws IOException {
        node.stageAndPublish(volume(), staging, target);
        Files.writeString(target.resolve("then"), "then");
        node.unpublishAndUnstage(volume(), staging, target);
        String name = ((VolumeId.Provisioned) volume().id()).subvolume();
        Lab.ceph("fs", "subvolume", "snapshot", "create", Lab.fileSystem(), name, "snap1", "--group_name", group);

        VolumeId.Provisioned id = new VolumeId.Provisioned("lab", Lab.fileSystem(), group, Lab.uniqueName("r"));
        Lab.Volume backed = new Lab.Volume(id, volume().path(), volume().context(), volume().secrets())
                .with(Map.of("dataPath", name + "/.snap/snap1", "readOnly", "true"));
        refused(Code.FAILED_PRECONDITION, () -> node.stub().nodeStageVolume(Requests.stage(backed, staging)));
        node.stub().nodeStageVolume(Requests.stage(backed, staging, Mode.MULTI_NODE_READER_ONLY));
        assertEquals("then", Files.readString(staging.resolve("then")));
        assertThrows(IOException.class, () -> Files.writeString(staging.resolve("now"), "now"));
        node.stub().nodeUnstageVolume(Requests.unstage(backed, staging));
        Lab.ceph("fs", "subvolume", "snapshot", "rm", Lab.fileSystem(), name, "snap1", "--group_name", group);
    }

    @Test
    void healthSaysWhatIsKnown() {
        var request = NodeGetVolumeHealthRequest.newBuilder()
                .setVolumeId(volume().id().toString())
                .build();
        refused(Code.NOT_FOUND, () -> node.stub().nodeGetVolumeHealth(request));
        Lab.Volume lost = volume().with(Map.of("fsName", Lab.fileSystem(), "dataPath", "v-lost"));
        refused(Code.NOT_FOUND, () -> node.stub().nodeStageVolume(Requests.stage(lost, staging)));
        assertEquals(
                "MountFailed",
                node.stub()
                        .nodeGetVolumeHealth(request)
                        .getVolumeHealth()
                        .getHealthStatuses(0)
                        .getReason());
        node.stageAndPublish(volume(), staging, target);
        assertEquals(
                0, node.stub().nodeGetVolumeHealth(request).getVolumeHealth().getHealthStatusesCount());
        assertEquals(
                0,
                node.stub()
                        .nodeGetStorageHealth(NodeGetStorageHealthRequest.getDefaultInstance())
                        .getBackendHealthCount());
        node.unpublishAndUnstage(volume(), staging, target);
    }
}

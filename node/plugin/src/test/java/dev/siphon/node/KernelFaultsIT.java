package dev.siphon.node;

import static dev.siphon.node.Refusals.refused;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.SYNC;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.NodeGetCapabilitiesRequest;
import csi.v1.NodePublishVolumeRequest;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Workplace;
import io.grpc.Status.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The node's behavior when the cluster evicts the kernel client or the network fails, in a guest of the lab.
@Tag("kernel")
class KernelFaultsIT {
    private static final long MIB = 1 << 20;

    private static Optional<Lab.Volume> made = Optional.empty();

    private final Workplace workplace = Workplace.create();
    private final NodeProcess node =
            NodeProcess.start(workplace.directory("node"), "--syscall-timeout=2", "--mount-timeout=10");
    private final Path staging = workplace.directory("staging");
    private Path target = Path.of("/");

    @BeforeAll
    static void makeVolume() {
        made = Optional.of(Lab.createVolume(Lab.createGroup(1024 * MIB), 64 * MIB));
    }

    @BeforeEach
    void makePaths() {
        // the first call waits for process start, which must not count in the times below
        node.stub().nodeGetCapabilities(NodeGetCapabilitiesRequest.getDefaultInstance());
        workplace.directory("pod");
        target = workplace.path("pod/target");
    }

    @AfterEach
    void leaveNothing() {
        GuestNetwork.plug();
        node.close();
        workplace.close();
    }

    private static Lab.Volume volume() {
        return made.orElseThrow();
    }

    @Test
    void anEvictedClientIsReportedAndHealedByStageAndPublish() throws IOException {
        node.stageAndPublish(volume(), staging, target);
        assertEquals(
                "ceph", MountTable.read().at(target.toString()).orElseThrow().type());
        // an evicted client loses its unwritten data
        Files.writeString(target.resolve("before"), "before", CREATE, WRITE, SYNC);
        node.stub().nodeGetVolumeStats(Requests.stats(volume(), target));
        Lab.evict(volume().id());
        refused(Code.UNAVAILABLE, () -> node.stub().nodeGetVolumeStats(Requests.stats(volume(), target)));
        assertTrue(
                List.of("[MountDead]", "[MountNotResponding]").contains(node.health(volume())),
                () -> node.health(volume()));
        refused(Code.UNAVAILABLE, () -> node.stub().nodePublishVolume(Requests.publish(volume(), staging, target)));

        node.stageAndPublish(volume(), staging, target);
        assertEquals("before", Files.readString(target.resolve("before")));
        assertEquals("[]", node.health(volume()));
        node.unpublishAndUnstage(volume(), staging, target);
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void publishHealsAnEvictedClientIfItBringsTheSecrets() throws IOException {
        node.stageAndPublish(volume(), staging, target);
        Lab.evict(volume().id());
        NodePublishVolumeRequest request = Requests.publish(volume(), staging, target).toBuilder()
                .putAllSecrets(volume().secrets())
                .build();
        node.stub().nodePublishVolume(request);
        Files.writeString(target.resolve("after"), "after");
        node.unpublishAndUnstage(volume(), staging, target);
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void anEvictedClientIsUnpublishedAndUnstaged() throws IOException {
        node.stageAndPublish(volume(), staging, target);
        Files.writeString(target.resolve("unsynced"), "x".repeat(1000));
        Lab.evict(volume().id());
        node.unpublishAndUnstage(volume(), staging, target);
        assertEquals(List.of(), workplace.mounts());
        assertFalse(Files.exists(target));
    }

    @Test
    void withoutNetworkEveryCallEndsInTimeAndTheVolumeIsTakenAway() throws IOException {
        node.stageAndPublish(volume(), staging, target);
        Files.writeString(target.resolve("unsynced"), "x".repeat(1000));
        GuestNetwork.unplug();
        long start = System.nanoTime();
        refused(Code.UNAVAILABLE, () -> node.stub(10).nodeGetVolumeStats(Requests.stats(volume(), target)));
        assertEquals("[MountNotResponding]", node.health(volume()));
        assertTrue(Duration.ofNanos(System.nanoTime() - start).toSeconds() < 20);
        start = System.nanoTime();
        node.unpublishAndUnstage(volume(), staging, target);
        assertTrue(Duration.ofNanos(System.nanoTime() - start).toSeconds() < 30, "unmounted within 30 s");
        assertEquals(List.of(), workplace.mounts());

        GuestNetwork.plug();
        Lab.evict(volume().id());
        node.stageAndPublish(volume(), staging, target);
        Files.writeString(target.resolve("again"), "again");
        node.unpublishAndUnstage(volume(), staging, target);
    }

    @Test
    void withoutNetworkStagingFailsInTime() {
        GuestNetwork.unplug();
        long start = System.nanoTime();
        refused(Code.UNAVAILABLE, () -> node.stub().nodeStageVolume(Requests.stage(volume(), staging)));
        assertTrue(Duration.ofNanos(System.nanoTime() - start).toSeconds() < 30);
        GuestNetwork.plug();
        assertEquals(List.of(), workplace.mounts());
        node.stub().nodeStageVolume(Requests.stage(volume(), staging));
        node.stub().nodeUnstageVolume(Requests.unstage(volume(), staging));
    }
}

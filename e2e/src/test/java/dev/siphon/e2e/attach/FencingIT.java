package dev.siphon.e2e.attach;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import csi.v1.ControllerGetVolumeRequest;
import csi.v1.ControllerPublishVolumeRequest;
import csi.v1.ControllerUnpublishVolumeRequest;
import csi.v1.NodeGetInfoRequest;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Lab;
import io.grpc.Status;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/// Takes a volume from a node without asking that node.
@ExtendWith(LeavesNothingBehind.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class FencingIT {
    private static final String BEFORE = "written before";

    private final DriverFolder folder = DriverFolder.create();
    private final ServedProcess controllerProcess = folder.controller("--attach");
    // all clients of a lab have one address, so only these names tell the nodes apart
    private final ServedProcess lostProcess = folder.node("node-a", "--node-address=192.0.2.1");
    private final ServedProcess otherProcess = folder.node("node-b", "--node-address=192.0.2.2");
    private final CsiClient controller = CsiClient.to(controllerProcess.endpoint());
    private final CsiClient lost = CsiClient.to(lostProcess.endpoint());
    private final CsiClient other = CsiClient.to(otherProcess.endpoint());
    private final NodeMounts lostMounts = mounts(lost, "kubelet-a");
    private final NodeMounts otherMounts = mounts(other, "kubelet-b");

    private NodeMounts mounts(CsiClient node, String kubelet) {
        return new NodeMounts(node, folder.file(kubelet), Lab.here().nodeStageSecrets());
    }

    @AfterAll
    void end() {
        List.of(controller, lost, other).forEach(CsiClient::close);
        List.of(lostProcess, otherProcess, controllerProcess).forEach(ServedProcess::close);
        folder.close();
    }

    @Test
    void whoIsFencedCannotWriteAnyMoreAndEverybodyElseGoesOn() throws IOException {
        Volume shared = volume("shared", Requests.shared());
        Volume beside = volume("beside", Requests.shared());
        attach(shared, lost, Requests.shared()).get();
        attach(shared, other, Requests.shared()).get();
        attach(beside, lost, Requests.shared()).get();
        Path fenced = lostMounts.mount(shared);
        Path spared = lostMounts.mount(beside);
        Path going = otherMounts.mount(shared);

        Path file = fenced.resolve("file");
        Files.writeString(file, BEFORE);
        try (FileChannel open = FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
            open.force(true);
            detach(shared, lost);

            assertThrows(
                    IOException.class,
                    () -> {
                        open.write(bytes(" and after"));
                        open.force(true);
                    },
                    "through a file that was open");
        } catch (IOException expected) {
            // close(2) reports the failed write once more
            assertFalse(expected.toString().isEmpty());
        }
        assertThrows(IOException.class, () -> Files.writeString(fenced.resolve("new"), "after"), "as a new file");

        assertEquals(BEFORE, Files.readString(going.resolve("file")));
        Files.writeString(going.resolve("of the other node"), "after");
        assertEquals("after", Files.readString(going.resolve("of the other node")));
        assertFalse(Files.exists(going.resolve("new")));
        Files.writeString(spared.resolve("of another volume"), "after");
        assertEquals(List.of(id(other)), nodesOf(shared));
        assertEquals(List.of(id(lost)), nodesOf(beside));

        lostMounts.close();
        otherMounts.close();
        detach(shared, other);
        detach(beside, lost);
        delete(shared);
        delete(beside);
    }

    @Test
    void aVolumeOfOneNodeIsTakenOverOnceTheLostNodeIsFenced() throws IOException {
        // the nodes of a lab share one mount table: a single-publish mode would apply across both
        VolumeCapability single = Requests.mount(Mode.SINGLE_NODE_MULTI_WRITER);
        Volume volume = volume("taken-over", single);
        attach(volume, lost, single).get();
        Path fenced = lostMounts.mount(volume, single);
        Files.writeString(fenced.resolve("file"), BEFORE);

        assertEquals(
                Status.Code.FAILED_PRECONDITION, attach(volume, other, single).code());
        detach(volume, lost);
        attach(volume, other, single).get();
        Path taken = otherMounts.mount(volume, single);

        assertEquals(BEFORE, Files.readString(taken.resolve("file")));
        assertThrows(IOException.class, () -> Files.writeString(fenced.resolve("file"), "after"));
        Files.writeString(taken.resolve("file"), "of the new node");
        assertEquals("of the new node", Files.readString(taken.resolve("file")));

        lostMounts.close();
        otherMounts.close();
        detach(volume, other);
        delete(volume);
    }

    private Volume volume(String name, VolumeCapability capability) {
        return controller
                .controller()
                .createVolume(Requests.volume(name, "u6", Requests.GIB).toBuilder()
                        .clearVolumeCapabilities()
                        .addVolumeCapabilities(capability)
                        .build())
                .getVolume();
    }

    private void delete(Volume volume) {
        var _ = controller.controller().deleteVolume(Requests.delete(volume.getVolumeId()));
    }

    private Outcome<?> attach(Volume volume, CsiClient node, VolumeCapability capability) {
        ControllerPublishVolumeRequest request = ControllerPublishVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setNodeId(id(node))
                .setVolumeCapability(capability)
                .build();
        return Outcome.of(() -> controller.controller().controllerPublishVolume(request));
    }

    private void detach(Volume volume, CsiClient node) {
        var _ = controller
                .controller()
                .controllerUnpublishVolume(ControllerUnpublishVolumeRequest.newBuilder()
                        .setVolumeId(volume.getVolumeId())
                        .setNodeId(id(node))
                        .build());
    }

    private static String id(CsiClient node) {
        return node.node().nodeGetInfo(NodeGetInfoRequest.getDefaultInstance()).getNodeId();
    }

    private List<String> nodesOf(Volume volume) {
        return controller
                .controller()
                .controllerGetVolume(ControllerGetVolumeRequest.newBuilder()
                        .setVolumeId(volume.getVolumeId())
                        .build())
                .getStatus()
                .getPublishedNodeIdsList();
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }
}

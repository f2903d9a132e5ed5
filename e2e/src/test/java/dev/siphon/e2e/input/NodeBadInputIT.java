package dev.siphon.e2e.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Lab;
import io.grpc.Status.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/// Sends requests to the node that it must reject; the mount table must not change.
@ExtendWith(LeavesNothingBehind.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class NodeBadInputIT {
    private final DriverFolder folder = DriverFolder.create();
    private final ServedProcess controllerProcess = folder.controller();
    private final ServedProcess nodeProcess = folder.node("node-a", "--log-level=DEBUG");
    private final CsiClient controller = CsiClient.to(controllerProcess.endpoint());
    private final CsiClient node = CsiClient.to(nodeProcess.endpoint());
    private final Map<String, String> secrets = Lab.here().nodeStageSecrets();
    private final Path outside = folder.file("outside");
    private final NodeMounts mounts = new NodeMounts(node, folder.file("kubelet"), secrets);
    private final Volume volume = controller
            .controller()
            .createVolume(Requests.volume("node-input", "u1", Requests.GIB))
            .getVolume();

    @BeforeAll
    void stageOne() throws IOException {
        Files.createDirectories(outside);
        mounts.stage(volume, Requests.shared()).get();
        Files.createDirectories(folder.file("pods"));
        Files.createSymbolicLink(folder.file("pods/link"), outside);
    }

    @AfterAll
    void end() {
        mounts.close();
        var _ = controller.controller().deleteVolume(Requests.delete(volume.getVolumeId()));
        List.of(controller, node).forEach(CsiClient::close);
        List.of(nodeProcess, controllerProcess).forEach(ServedProcess::close);
        folder.close();
    }

    private List<BadCall> stages() {
        return List.of(
                stage("without id", "volume_id", NodeStageVolumeRequest.Builder::clearVolumeId),
                new BadCall(
                        "NodeUnstageVolume with an id of another version",
                        Code.FAILED_PRECONDITION,
                        "format s2",
                        it -> it.node()
                                .nodeUnstageVolume(NodeUnstageVolumeRequest.newBuilder()
                                        .setVolumeId("s2:lab:cephfs:a:v")
                                        .setStagingTargetPath(
                                                folder.file("pods/staging").toString())
                                        .build())),
                stage("with a path as id", Code.NOT_FOUND, it -> it.setVolumeId("s1:lab:cephfs:..:..")),
                stage("with NUL in its id", Code.INVALID_ARGUMENT, it -> it.setVolumeId("s1:lab:cephfs:a\0:v")),
                stage("with an id too long", Code.INVALID_ARGUMENT, it -> it.setVolumeId("s1:" + "a".repeat(200))),
                stage("without path", "staging_target_path", NodeStageVolumeRequest.Builder::clearStagingTargetPath),
                stage("with a relative path", "staging_target_path", it -> it.setStagingTargetPath("staging")),
                stage(
                        "with .. in its path",
                        "staging_target_path",
                        it -> it.setStagingTargetPath(
                                folder.file("pods/../../etc").toString())),
                stage("with NUL in its path", "staging_target_path", it -> it.setStagingTargetPath("/tmp/a\0b")),
                stage("with a line end in its path", "staging_target_path", it -> it.setStagingTargetPath("/tmp/a\nb")),
                stage(
                        "with a path too long",
                        "staging_target_path",
                        it -> it.setStagingTargetPath("/" + "a".repeat(5000))),
                stage("without capability", "volume_capability", NodeStageVolumeRequest.Builder::clearVolumeCapability),
                stage(
                        "as a block volume",
                        "block",
                        it -> it.setVolumeCapability(VolumeCapability.newBuilder()
                                .setBlock(VolumeCapability.BlockVolume.getDefaultInstance())
                                .setAccessMode(Requests.shared().getAccessMode()))),
                stage("without secrets", "secrets", NodeStageVolumeRequest.Builder::clearSecrets),
                stage(
                        "with another volume's data path",
                        "volume_context",
                        it -> it.putVolumeContext("dataPath", "../other")),
                stage("with an unknown key of context", "volume_context", it -> it.putVolumeContext("path", "/")),
                stage(
                        "with a smuggled option",
                        "mount option",
                        it -> it.putVolumeContext("mountOptions", "noatime,name=admin")));
    }

    private List<BadCall> others() {
        return List.of(
                publish("without target", Code.INVALID_ARGUMENT, "target_path", it -> it.setTargetPath("")),
                publish(
                        "with .. in its target",
                        Code.INVALID_ARGUMENT,
                        "target_path",
                        it -> it.setTargetPath(folder.file("pods/../outside/x").toString())),
                publish(
                        "through a symlink",
                        Code.INVALID_ARGUMENT,
                        "target_path",
                        it -> it.setTargetPath(folder.file("pods/link/x").toString())),
                publish(
                        "onto a symlink",
                        Code.INVALID_ARGUMENT,
                        "target_path",
                        it -> it.setTargetPath(folder.file("pods/link").toString())),
                publish(
                        "with NUL in its target",
                        Code.INVALID_ARGUMENT,
                        "target_path",
                        it -> it.setTargetPath("/a\0b")),
                publish(
                        "without staging",
                        Code.FAILED_PRECONDITION,
                        "staging_target_path",
                        it -> it.setStagingTargetPath("")),
                publish(
                        "of what is not staged",
                        Code.FAILED_PRECONDITION,
                        "staging_target_path",
                        it -> it.setStagingTargetPath(folder.file("pods").toString())),
                new BadCall(
                        "NodeUnpublishVolume without target",
                        Code.INVALID_ARGUMENT,
                        "target_path",
                        it -> it.node()
                                .nodeUnpublishVolume(NodeUnpublishVolumeRequest.newBuilder()
                                        .setVolumeId(volume.getVolumeId())
                                        .build())),
                new BadCall(
                        "NodeUnstageVolume with ..",
                        Code.INVALID_ARGUMENT,
                        "staging_target_path",
                        it -> it.node()
                                .nodeUnstageVolume(NodeUnstageVolumeRequest.newBuilder()
                                        .setVolumeId(volume.getVolumeId())
                                        .setStagingTargetPath("/tmp/../etc")
                                        .build())),
                stats("of another path", Code.NOT_FOUND, folder.file("pods").toString()),
                stats("of a system directory", Code.INVALID_ARGUMENT, "/etc"),
                stats(
                        "through a symlink",
                        Code.NOT_FOUND,
                        folder.file("pods/link/x").toString()));
    }

    @TestFactory
    Stream<DynamicTest> isRefusedAndMountsNothing() throws IOException {
        List<String> before = mountTable();
        return Stream.concat(stages().stream(), others().stream())
                .map(row -> DynamicTest.dynamicTest(row.name(), () -> {
                    Outcome<?> outcome = Outcome.of(() -> row.call().apply(node));
                    assertEquals(row.code(), outcome.code(), outcome.message());
                    assertTrue(outcome.message().contains(row.says()), outcome.message());
                    assertEquals(before, mountTable());
                    try (Stream<Path> children = Files.list(outside)) {
                        assertEquals(List.of(), children.toList());
                    }
                    String key = secrets.getOrDefault("userKey", "");
                    assertFalse(nodeProcess.log().contains(key), "the log holds a key");
                    assertFalse(outcome.message().contains(key), "the message holds a key");
                }));
    }

    private static List<String> mountTable() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/mountinfo"));
    }

    private BadCall stats(String name, Code code, String path) {
        NodeGetVolumeStatsRequest request = NodeGetVolumeStatsRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setVolumePath(path)
                .build();
        return new BadCall(
                "NodeGetVolumeStats " + name,
                code,
                "volume_path",
                it -> it.node().nodeGetVolumeStats(request));
    }

    private BadCall stage(String name, String says, Consumer<NodeStageVolumeRequest.Builder> change) {
        return stage(name, Code.INVALID_ARGUMENT, says, change);
    }

    /// For a wrong volume id.
    private BadCall stage(String name, Code code, Consumer<NodeStageVolumeRequest.Builder> change) {
        return stage(name, code, "volume_id", change);
    }

    private BadCall stage(String name, Code code, String says, Consumer<NodeStageVolumeRequest.Builder> change) {
        NodeStageVolumeRequest.Builder request = NodeStageVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setStagingTargetPath(folder.file("pods/staging").toString())
                .setVolumeCapability(Requests.shared())
                .putAllSecrets(secrets)
                .putAllVolumeContext(volume.getVolumeContextMap());
        change.accept(request);
        return new BadCall(
                "NodeStageVolume " + name, code, says, it -> it.node().nodeStageVolume(request.build()));
    }

    private BadCall publish(String name, Code code, String says, Consumer<NodePublishVolumeRequest.Builder> change) {
        NodePublishVolumeRequest.Builder request = NodePublishVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setStagingTargetPath(mounts.staging(volume).toString())
                .setTargetPath(folder.file("pods/target").toString())
                .setVolumeCapability(Requests.shared())
                .putAllSecrets(secrets)
                .putAllVolumeContext(volume.getVolumeContextMap());
        change.accept(request);
        return new BadCall(
                "NodePublishVolume " + name, code, says, it -> it.node().nodePublishVolume(request.build()));
    }
}

package dev.siphon.node.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.CapacityRange;
import csi.v1.NodeExpandVolumeRequest;
import csi.v1.NodeGetVolumeHealthRequest;
import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.StatusMapping;
import dev.siphon.csi.server.Deadlines;
import dev.siphon.node.RealDatasets;
import dev.siphon.node.Requests;
import dev.siphon.node.device.AnyPlace;
import dev.siphon.node.grant.NamespacePlaces;
import dev.siphon.node.grant.PublishCheck;
import dev.siphon.node.inline.InlineDatasets;
import dev.siphon.node.inline.NeverOffline;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.CephCredentialsTest;
import dev.siphon.node.mount.Mounters;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.mount.OpenedDatasets;
import dev.siphon.node.pod.PodEvents;
import dev.siphon.node.pod.PodHealth;
import dev.siphon.node.pod.PublishedPods;
import io.grpc.Status.Code;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Tests every field of the calls that mount or inspect: missing, too long, of a wrong kind, or malicious. None of
/// these requests may reach a mounter.
class NodeFieldsTest {
    private static final String ID = "s1:lab:fs:g:v";
    private static final String MODE = "volume_capability.access_mode.mode";

    private static final PublishCheck OPEN = new PublishCheck(Optional.empty(), NamespacePlaces.NONE, Optional.empty());

    @TempDir
    @SuppressWarnings("NullAway.Init") // set by JUnit
    Path directory;

    private final BlockingCalls calls = new BlockingCalls();
    private NodeMountHandler mountCalls = mountCalls(Path.of("/nowhere/state"));
    private NodeHealthHandler lookCalls = lookCalls(Path.of("/nowhere/state"));

    private NodeMountHandler mountCalls(Path state) {
        return new NodeMountHandler(
                volumes(state), OPEN, inline(state), AnyPlace.of(pods(), calls), pods(), deadlines());
    }

    private NodeHealthHandler lookCalls(Path state) {
        return new NodeHealthHandler(volumes(state), OPEN, inline(state), pods(), deadlines());
    }

    private InlineVolumeHandler inline(Path state) {
        return new InlineVolumeHandler(
                volumes(state),
                NeverOffline.in(state, volumes(state), InlineDatasets.NONE),
                AnyPlace.of(pods(), calls),
                deadlines());
    }

    private static PodHealth pods() {
        return new PodHealth(new PublishedPods(Path.of("/nowhere/pods")), PodEvents.NOWHERE, new PrometheusRegistry());
    }

    private static Deadlines deadlines() {
        return new Deadlines(Duration.ofSeconds(20));
    }

    private NodeVolumes volumes(Path state) {
        Mounters none = new Mounters(List.of(), (_, _) -> {
            throw new AssertionError("a bad request reached the mounters");
        });
        return new NodeVolumes(
                state,
                none,
                RealDatasets.in(state),
                new OpenedDatasets(state.resolve("opened"), Duration.ZERO, InstantSource.system()),
                calls,
                new NodeVolumes.Limits(Duration.ofSeconds(5), Duration.ofSeconds(5)));
    }

    @BeforeEach
    void makeState() throws IOException {
        Path state = Files.createDirectories(directory.resolve("state"));
        Files.createDirectories(state.resolve("mounts"));
        mountCalls = mountCalls(state);
        lookCalls = lookCalls(state);
    }

    @AfterEach
    void end() {
        calls.close();
    }

    private static void expect(String name, Code code, String word, Executable call) {
        DriverException e = assertThrows(DriverException.class, call, name);
        assertEquals(code, StatusMapping.toStatus(e).getCode(), () -> name + ": " + e.getMessage());
        assertTrue(String.valueOf(e.getMessage()).contains(word), () -> name + ": " + e.getMessage());
        assertFalse(
                String.valueOf(e.getMessage()).contains(CephCredentialsTest.AES_KEY), () -> name + " shows the key");
    }

    private static VolumeCapability.Builder capability() {
        return Requests.capability(Mode.MULTI_NODE_MULTI_WRITER).toBuilder();
    }

    /// Returns volume capabilities, each with its error.
    static Stream<Arguments> capabilities() {
        return Stream.of(
                bad("block", "block", c -> c.setBlock(VolumeCapability.BlockVolume.getDefaultInstance())),
                bad("no access type", "mount", VolumeCapability.Builder::clearMount),
                bad("no access mode", "access_mode", VolumeCapability.Builder::clearAccessMode),
                bad("unknown access mode", MODE, c -> c.getAccessModeBuilder().setMode(Mode.UNKNOWN)),
                bad(
                        "access mode of a later CSI",
                        MODE,
                        c -> c.getAccessModeBuilder().setModeValue(77)),
                bad("other file system", "fs_type", c -> c.getMountBuilder().setFsType("ext4")),
                bad("long file system", "fs_type", c -> c.getMountBuilder().setFsType("x".repeat(129))),
                bad(
                        "mount group",
                        "volume_mount_group",
                        c -> c.getMountBuilder().setVolumeMountGroup("100")),
                bad("flag not allowed", "suid", c -> c.getMountBuilder().addMountFlags("suid")),
                bad("key in a flag", "secret", c -> c.getMountBuilder().addMountFlags("secret=x")),
                bad("comma in a flag", "ro", c -> c.getMountBuilder().addMountFlags("ro,name=admin")),
                bad("empty flag", "mount option", c -> c.getMountBuilder().addMountFlags("")),
                bad("too many flags", "mount_flags", c -> {
                    for (int i = 0; i < 600; i++) {
                        var _ = c.getMountBuilder().addMountFlags("noatime");
                    }
                }));
    }

    private static Arguments bad(String name, String word, Consumer<VolumeCapability.Builder> change) {
        VolumeCapability.Builder capability = capability();
        change.accept(capability);
        return Arguments.of(name, word, capability.build());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("capabilities")
    void aBadCapabilityIsRefused(String name, String word, VolumeCapability capability) {
        expect(
                name,
                Code.INVALID_ARGUMENT,
                word,
                () -> mountCalls.stage(stage().setVolumeCapability(capability).build()));
        expect(
                name,
                Code.INVALID_ARGUMENT,
                word,
                () -> mountCalls.publish(
                        publish().setVolumeCapability(capability).build()));
        expect(
                name,
                Code.INVALID_ARGUMENT,
                word,
                () -> lookCalls.expand(expand().setVolumeCapability(capability).build()));
    }

    private NodeStageVolumeRequest.Builder stage() {
        return NodeStageVolumeRequest.newBuilder()
                .setVolumeId(ID)
                .setStagingTargetPath(directory.resolve("staging").toString())
                .setVolumeCapability(capability())
                .putVolumeContext("monitors", "10.0.0.1")
                .putSecrets("userID", "u")
                .putSecrets("userKey", CephCredentialsTest.AES_KEY);
    }

    private NodePublishVolumeRequest.Builder publish() {
        return NodePublishVolumeRequest.newBuilder()
                .setVolumeId(ID)
                .setStagingTargetPath(directory.resolve("staging").toString())
                .setTargetPath(directory.resolve("target").toString())
                .setVolumeCapability(capability())
                .putVolumeContext("monitors", "10.0.0.1");
    }

    private NodeExpandVolumeRequest.Builder expand() {
        return NodeExpandVolumeRequest.newBuilder()
                .setVolumeId(ID)
                .setVolumePath(directory.resolve("target").toString());
    }

    /// Returns volume ids, each with the error of calls that need a volume.
    static Stream<Arguments> ids() {
        return Stream.of(
                Arguments.of("missing", "", Code.INVALID_ARGUMENT),
                Arguments.of("129 bytes", "s1:lab:fs:g:" + "v".repeat(117), Code.INVALID_ARGUMENT),
                Arguments.of("128 bytes", "s1:lab:fs:g:" + "v".repeat(116), Code.NOT_FOUND),
                Arguments.of("NUL", "s1:lab:fs:g:v\0", Code.INVALID_ARGUMENT),
                Arguments.of("line feed", "s1:lab:fs:g:v\n", Code.INVALID_ARGUMENT),
                Arguments.of("another driver's", "pvc-0123", Code.NOT_FOUND),
                Arguments.of("of another version", "s2:lab:fs:g:v", Code.FAILED_PRECONDITION),
                Arguments.of("path in a part", "s1:lab:fs:..:v", Code.NOT_FOUND),
                Arguments.of("slash in a part", "s1:lab:fs:g/h:v", Code.NOT_FOUND),
                Arguments.of("static with dots", "static:lab:fs:/a/../b", Code.NOT_FOUND),
                Arguments.of("static, relative", "static:lab:fs:a", Code.NOT_FOUND));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ids")
    void aBadVolumeIdIsRefused(String name, String id, Code code) {
        expect(
                name,
                code,
                "volume_id",
                () -> mountCalls.stage(stage().setVolumeId(id).build()));
        expect(
                name,
                code,
                "volume_id",
                () -> mountCalls.publish(publish().setVolumeId(id).build()));
        expect(
                name,
                code,
                "volume_id",
                () -> lookCalls.expand(expand().setVolumeId(id).build()));
        expect(
                name,
                code,
                "volume_id",
                () -> lookCalls.stats(NodeGetVolumeStatsRequest.newBuilder()
                        .setVolumeId(id)
                        .setVolumePath("/mnt/x")
                        .build()));
        expect(
                name,
                code,
                "volume_id",
                () -> lookCalls.volumeHealth(
                        NodeGetVolumeHealthRequest.newBuilder().setVolumeId(id).build()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ids")
    void whatIsToBeGoneAndCannotBeIsGone(String name, String id, Code code) {
        NodeUnstageVolumeRequest unstage = NodeUnstageVolumeRequest.newBuilder()
                .setVolumeId(id)
                .setStagingTargetPath("/mnt/x")
                .build();
        NodeUnpublishVolumeRequest unpublish = NodeUnpublishVolumeRequest.newBuilder()
                .setVolumeId(id)
                .setTargetPath("/mnt/x")
                .build();
        if (code != Code.NOT_FOUND) {
            expect(name, code, "volume_id", () -> mountCalls.unstage(unstage));
            expect(name, code, "volume_id", () -> mountCalls.unpublish(unpublish));
        } else {
            var _ = mountCalls.unstage(unstage);
            var _ = mountCalls.unpublish(unpublish);
        }
    }

    static Stream<Arguments> paths() {
        return Stream.of(
                Arguments.of("missing", ""),
                Arguments.of("root", "/"),
                Arguments.of("system", "/etc/x"),
                Arguments.of("dot dot", "/mnt/a/../b"),
                Arguments.of("NUL", "/mnt/a\0b"),
                Arguments.of("too long", "/mnt/" + "a/".repeat(2046) + "b"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("paths")
    void aBadPathIsRefused(String name, String path) {
        Code code = Code.INVALID_ARGUMENT;
        expect(
                name,
                code,
                "staging_target_path",
                () -> mountCalls.stage(stage().setStagingTargetPath(path).build()));
        expect(
                name,
                code,
                "target_path",
                () -> mountCalls.publish(publish().setTargetPath(path).build()));
        expect(
                name,
                path.isEmpty() ? Code.FAILED_PRECONDITION : code,
                "staging_target_path",
                () -> mountCalls.publish(publish().setStagingTargetPath(path).build()));
        expect(
                name,
                code,
                "staging_target_path",
                () -> mountCalls.unstage(NodeUnstageVolumeRequest.newBuilder()
                        .setVolumeId(ID)
                        .setStagingTargetPath(path)
                        .build()));
        expect(
                name,
                code,
                "target_path",
                () -> mountCalls.unpublish(NodeUnpublishVolumeRequest.newBuilder()
                        .setVolumeId(ID)
                        .setTargetPath(path)
                        .build()));
        expect(
                name,
                code,
                "volume_path",
                () -> lookCalls.stats(NodeGetVolumeStatsRequest.newBuilder()
                        .setVolumeId(ID)
                        .setVolumePath(path)
                        .build()));
        expect(
                name,
                code,
                "volume_path",
                () -> lookCalls.expand(expand().setVolumePath(path).build()));
    }

    @Test
    void aRelativePathIsBadToMountAtAndNoPlaceToLook() {
        String path = "some/path";
        expect(
                "stage",
                Code.INVALID_ARGUMENT,
                "absolute",
                () -> mountCalls.stage(stage().setStagingTargetPath(path).build()));
        expect(
                "stats",
                Code.NOT_FOUND,
                "relative",
                () -> lookCalls.stats(NodeGetVolumeStatsRequest.newBuilder()
                        .setVolumeId(ID)
                        .setVolumePath(path)
                        .build()));
        expect(
                "expand",
                Code.NOT_FOUND,
                "relative",
                () -> lookCalls.expand(expand().setVolumePath(path).build()));
        expect(
                "health",
                Code.INVALID_ARGUMENT,
                "volume_publish_path",
                () -> lookCalls.volumeHealth(NodeGetVolumeHealthRequest.newBuilder()
                        .setVolumeId(ID)
                        .setVolumePublishPath(path)
                        .build()));
    }

    @Test
    void contextAndSecretsAreChecked() {
        Code code = Code.INVALID_ARGUMENT;
        expect(
                "no capability",
                code,
                "volume_capability",
                () -> mountCalls.stage(stage().clearVolumeCapability().build()));
        expect(
                "no monitors",
                code,
                "monitors",
                () -> mountCalls.stage(stage().clearVolumeContext().build()));
        expect(
                "unknown context",
                code,
                "volume_context",
                () -> mountCalls.stage(stage().putVolumeContext("name", "admin").build()));
        expect(
                "large context",
                code,
                "volume_context",
                () -> mountCalls.stage(
                        stage().putVolumeContext("monitors", "1".repeat(5000)).build()));
        expect(
                "large publish context",
                code,
                "publish_context",
                () -> mountCalls.stage(
                        stage().putPublishContext("x", "1".repeat(5000)).build()));
        expect(
                "large secrets",
                code,
                "secrets",
                () -> mountCalls.stage(stage().putSecrets("x", "1".repeat(5000)).build()));
        expect(
                "option in context",
                code,
                "mount option",
                () -> mountCalls.stage(
                        stage().putVolumeContext("mountOptions", "secret=x").build()));
        expect(
                "path in context",
                code,
                "path",
                () -> mountCalls.stage(
                        stage().putVolumeContext("dataPath", "../other").build()));
        expect(
                "another account's place in context",
                Code.PERMISSION_DENIED,
                "mountPath",
                () -> mountCalls.stage(
                        stage().putVolumeContext("mountPath", "/volumes/h").build()));
        expect(
                "mounter",
                code,
                "mounter",
                () -> mountCalls.stage(
                        stage().putVolumeContext("mounter", "nfs").build()));
        expect(
                "user of containers",
                code,
                "containerUser",
                () -> mountCalls.stage(
                        stage().putVolumeContext("containerUser", "nobody").build()));
        expect(
                "no user",
                code,
                "userID",
                () -> mountCalls.stage(stage().removeSecrets("userID").build()));
        expect(
                "no key",
                code,
                "userKey",
                () -> mountCalls.stage(stage().removeSecrets("userKey").build()));
        expect(
                "half a secret",
                code,
                "userKey",
                () -> mountCalls.publish(publish().putSecrets("userID", "u").build()));
        expect(
                "target is staging",
                code,
                "target_path",
                () -> mountCalls.publish(publish()
                        .setTargetPath(directory.resolve("staging").toString())
                        .build()));
    }

    @Test
    void aRangeThatCannotBeIsRefused() {
        expect(
                "negative",
                Code.INVALID_ARGUMENT,
                "capacity_range",
                () -> lookCalls.expand(
                        expand().setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(-1))
                                .build()));
        expect(
                "limit below",
                Code.OUT_OF_RANGE,
                "limit_bytes",
                () -> lookCalls.expand(expand().setCapacityRange(
                                CapacityRange.newBuilder().setRequiredBytes(2).setLimitBytes(1))
                        .build()));
    }

    @Test
    void aVolumeThatIsNotThereIsNotFound() throws IOException {
        Files.createDirectories(directory.resolve("target"));
        expect(
                "stats",
                Code.NOT_FOUND,
                "not mounted",
                () -> lookCalls.stats(NodeGetVolumeStatsRequest.newBuilder()
                        .setVolumeId(ID)
                        .setVolumePath(directory.resolve("target").toString())
                        .build()));
        expect("expand", Code.NOT_FOUND, "not mounted", () -> lookCalls.expand(expand().build()));
        expect(
                "health",
                Code.NOT_FOUND,
                "not mounted",
                () -> lookCalls.volumeHealth(
                        NodeGetVolumeHealthRequest.newBuilder().setVolumeId(ID).build()));
        expect(
                "publish",
                Code.FAILED_PRECONDITION,
                "not staged",
                () -> mountCalls.publish(publish().build()));
    }
}

package dev.siphon.e2e.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerGetVolumeRequest;
import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.VolumeCapability;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Lab;
import io.grpc.Status.Code;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/// Sends requests to the controller that it must reject or ignore; the cluster must not change.
@ExtendWith(LeavesNothingBehind.class)
final class ControllerBadInputIT {
    private static final String UNKNOWN = "s1:lab:cephfs:a00000000000000000000:v00000000000000000000";
    private static final String UNKNOWN_SNAPSHOT = UNKNOWN + "@s00000000000000000000";
    private static final String SECRET = "hunter2";

    private static List<BadCall> creations() {
        return List.of(
                creation("no name", Code.INVALID_ARGUMENT, "name", CreateVolumeRequest.Builder::clearName),
                creation("name too long", Code.INVALID_ARGUMENT, "name", it -> it.setName("n".repeat(129))),
                creation("name with NUL", Code.INVALID_ARGUMENT, "name", it -> it.setName("a\0b")),
                creation("name with escape", Code.INVALID_ARGUMENT, "name", it -> it.setName("a\u001b[31m")),
                creation(
                        "no capability",
                        Code.INVALID_ARGUMENT,
                        "volume_capabilities",
                        CreateVolumeRequest.Builder::clearVolumeCapabilities),
                creation(
                        "block volume",
                        Code.INVALID_ARGUMENT,
                        "block",
                        it -> it.clearVolumeCapabilities()
                                .addVolumeCapabilities(VolumeCapability.newBuilder()
                                        .setBlock(VolumeCapability.BlockVolume.getDefaultInstance())
                                        .setAccessMode(Requests.shared().getAccessMode()))),
                parameter("unknown, with the nearest known", "onwer", "u1", "owner"),
                parameter("account that is a path", "owner", "../u2", "owner"),
                parameter("account that is not there", "owner", "nobody-there", "owner"),
                parameter("cluster that is a path", "cluster", "../lab", "cluster"),
                parameter("file system that is not there", "fsName", "other", "fsName"),
                parameter("pool that is not there", "dataPool", "rbd", "dataPool"),
                parameter("mode with words", "mode", "rwx", "mode"),
                parameter("uid of nobody", "uid", "-1", "uid"),
                parameter("smuggled key", "mountOptions", "noatime,secret=" + SECRET, "secret"),
                parameter("smuggled identity", "mountOptions", "name=admin", "name"),
                creation(
                        "negative size",
                        Code.OUT_OF_RANGE,
                        "capacity_range",
                        it -> it.setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(-1))),
                creation(
                        "limit below size",
                        Code.OUT_OF_RANGE,
                        "capacity_range",
                        it -> it.setCapacityRange(
                                CapacityRange.newBuilder().setRequiredBytes(2).setLimitBytes(1))),
                creation(
                        "snapshot that is not there",
                        Code.NOT_FOUND,
                        UNKNOWN_SNAPSHOT,
                        it -> it.mergeFrom(
                                Requests.fromSnapshot(CreateVolumeRequest.getDefaultInstance(), UNKNOWN_SNAPSHOT))),
                creation(
                        "volume that is not there",
                        Code.NOT_FOUND,
                        UNKNOWN,
                        it -> it.mergeFrom(Requests.fromVolume(CreateVolumeRequest.getDefaultInstance(), UNKNOWN))));
    }

    private static List<BadCall> others() {
        return List.of(
                new BadCall(
                        "DeleteVolume without id",
                        Code.INVALID_ARGUMENT,
                        "volume_id",
                        it -> it.controller().deleteVolume(Requests.delete(""))),
                deletion("of another version", Code.FAILED_PRECONDITION, "s2:lab:cephfs:a:v"),
                deletion("with a path", Code.OK, "s1:lab:cephfs:..:.."),
                deletion("with NUL", Code.INVALID_ARGUMENT, "s1:lab:cephfs:a\0:v"),
                deletion("of a static path with ..", Code.OK, "static:lab:cephfs:/volumes/../volumes"),
                deletion("of a static volume", Code.FAILED_PRECONDITION, "static:lab:cephfs:/volumes"),
                deletion("of an unknown cluster", Code.FAILED_PRECONDITION, UNKNOWN.replace("lab", "other")),
                deletion("too long", Code.INVALID_ARGUMENT, "s1:lab:cephfs:" + "a".repeat(200) + ":v"),
                new BadCall(
                        "DeleteSnapshot without id",
                        Code.INVALID_ARGUMENT,
                        "snapshot_id",
                        it -> it.controller().deleteSnapshot(Requests.deleteSnapshot(""))),
                new BadCall(
                        "DeleteSnapshot with a path",
                        Code.OK,
                        "",
                        it -> it.controller().deleteSnapshot(Requests.deleteSnapshot("s1:lab:cephfs:a:v@../x"))),
                new BadCall(
                        "CreateSnapshot without name",
                        Code.INVALID_ARGUMENT,
                        "name",
                        it -> it.controller()
                                .createSnapshot(CreateSnapshotRequest.newBuilder()
                                        .setSourceVolumeId(UNKNOWN)
                                        .build())),
                new BadCall(
                        "CreateSnapshot of nothing",
                        Code.INVALID_ARGUMENT,
                        "source_volume_id",
                        it -> it.controller().createSnapshot(Requests.snapshot("snapshot", ""))),
                new BadCall(
                        "CreateSnapshot of what is not there",
                        Code.NOT_FOUND,
                        UNKNOWN,
                        it -> it.controller().createSnapshot(Requests.snapshot("snapshot", UNKNOWN))),
                new BadCall(
                        "ControllerExpandVolume of what is not there",
                        Code.NOT_FOUND,
                        UNKNOWN,
                        it -> it.controller()
                                .controllerExpandVolume(ControllerExpandVolumeRequest.newBuilder()
                                        .setVolumeId(UNKNOWN)
                                        .setCapacityRange(
                                                CapacityRange.newBuilder().setRequiredBytes(Requests.GIB))
                                        .build())),
                new BadCall(
                        "ControllerExpandVolume without size",
                        Code.INVALID_ARGUMENT,
                        "capacity_range",
                        it -> it.controller()
                                .controllerExpandVolume(ControllerExpandVolumeRequest.newBuilder()
                                        .setVolumeId(UNKNOWN)
                                        .build())),
                new BadCall(
                        "ControllerGetVolume of another driver",
                        Code.NOT_FOUND,
                        "volume_id",
                        it -> it.controller()
                                .controllerGetVolume(ControllerGetVolumeRequest.newBuilder()
                                        .setVolumeId("0001-0009-rook-ceph")
                                        .build())),
                new BadCall(
                        "ValidateVolumeCapabilities of what is not there",
                        Code.NOT_FOUND,
                        UNKNOWN,
                        it -> it.controller()
                                .validateVolumeCapabilities(ValidateVolumeCapabilitiesRequest.newBuilder()
                                        .setVolumeId(UNKNOWN)
                                        .addVolumeCapabilities(Requests.shared())
                                        .build())),
                new BadCall(
                        "ListVolumes with a made-up token",
                        Code.ABORTED,
                        "starting_token",
                        it -> it.controller()
                                .listVolumes(ListVolumesRequest.newBuilder()
                                        .setStartingToken("../" + UNKNOWN)
                                        .build())),
                new BadCall(
                        "ListVolumes of less than none",
                        Code.INVALID_ARGUMENT,
                        "max_entries",
                        it -> it.controller()
                                .listVolumes(ListVolumesRequest.newBuilder()
                                        .setMaxEntries(-1)
                                        .build())));
    }

    @TestFactory
    Stream<DynamicTest> isRefusedAndChangesNothing() {
        DriverFolder folder = DriverFolder.create();
        ServedProcess controller = folder.controller("--log-level=DEBUG");
        CsiClient client = CsiClient.to(controller.endpoint());
        CephTree tree = CephTree.mount(Lab.here());
        List<String> before = tree.state();
        return Stream.concat(creations().stream(), others().stream())
                .map(row -> DynamicTest.dynamicTest(row.name(), () -> {
                    Outcome<?> outcome = Outcome.of(() -> row.call().apply(client));
                    assertEquals(row.code(), outcome.code(), outcome.message());
                    assertTrue(outcome.message().contains(row.says()), outcome.message());
                    assertFalse(outcome.message().contains(SECRET), outcome.message());
                    assertEquals(before, tree.state());
                    assertFalse(controller.log().contains(SECRET), "the log holds a secret");
                }))
                .onClose(() -> {
                    tree.close();
                    client.close();
                    controller.close();
                    folder.close();
                });
    }

    private static BadCall creation(String name, Code code, String says, Consumer<CreateVolumeRequest.Builder> change) {
        CreateVolumeRequest.Builder request = Requests.volume("bad", "u1", Requests.GIB).toBuilder();
        change.accept(request);
        return new BadCall(
                "CreateVolume: " + name, code, says, it -> it.controller().createVolume(request.build()));
    }

    private static BadCall parameter(String name, String key, String value, String says) {
        return creation(
                "parameter " + key + ": " + name, Code.INVALID_ARGUMENT, says, it -> it.putParameters(key, value));
    }

    private static BadCall deletion(String name, Code code, String id) {
        return new BadCall(
                "DeleteVolume " + name,
                code,
                code == Code.INVALID_ARGUMENT ? "volume_id" : "",
                it -> it.controller().deleteVolume(Requests.delete(id)));
    }
}

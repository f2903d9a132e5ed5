package dev.siphon.controller.rpc;

import static dev.siphon.controller.rpc.BadRequests.capability;
import static dev.siphon.controller.rpc.BadRequests.classParameters;
import static dev.siphon.controller.rpc.BadRequests.malformedId;
import static dev.siphon.controller.rpc.BadRequests.name;
import static dev.siphon.controller.rpc.BadRequests.otherVersion;
import static dev.siphon.controller.rpc.BadRequests.parameters;
import static dev.siphon.controller.rpc.BadRequests.secrets;
import static dev.siphon.controller.rpc.BadRequests.snapshotId;
import static dev.siphon.controller.rpc.BadRequests.volumeId;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerGetVolumeHealthRequest;
import csi.v1.ControllerGetVolumeRequest;
import csi.v1.ControllerListVolumeHealthRequest;
import csi.v1.ControllerModifyVolumeRequest;
import csi.v1.ControllerPublishVolumeRequest;
import csi.v1.ControllerUnpublishVolumeRequest;
import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateVolumeGroupSnapshotRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.DeleteVolumeGroupSnapshotRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.GetSnapshotRequest;
import csi.v1.GetVolumeGroupSnapshotRequest;
import csi.v1.ListSnapshotsRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.Snapshot;
import csi.v1.Topology;
import csi.v1.TopologyRequirement;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.VolumeCapability;
import csi.v1.VolumeContentSource;
import csi.v1.VolumeGroupSnapshot;
import dev.siphon.controller.rpc.BadRequests.Case;
import io.grpc.Status;
import io.grpc.Status.Code;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/// Tests every field of every request with every kind of error. Checks the code that CSI defines, a message that
/// names the field, no secret in it, and an unchanged cluster.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ValidationTest {
    private static final String NODE = "node-1@192.0.2.1";

    private final ServedController served = ServedController.start(true);
    private String volume = "";
    private String snapshot = "";
    private VolumeGroupSnapshot group = VolumeGroupSnapshot.getDefaultInstance();

    @BeforeAll
    void haveThings() {
        volume = created("pvc-1");
        snapshot = served.controller()
                .createSnapshot(Requests.createSnapshot(volume, "snap-1").build())
                .getSnapshot()
                .getSnapshotId();
        group = served.groups()
                .createVolumeGroupSnapshot(CreateVolumeGroupSnapshotRequest.newBuilder()
                        .setName("group-1")
                        .addSourceVolumeIds(volume)
                        .addSourceVolumeIds(created("pvc-2"))
                        .build())
                .getGroupSnapshot();
    }

    private String created(String name) {
        return served.controller()
                .createVolume(Requests.createVolume(name).build())
                .getVolume()
                .getVolumeId();
    }

    @AfterAll
    void stop() {
        served.close();
    }

    /// Returns one test per case of one RPC.
    @SafeVarargs
    private final <B> Stream<DynamicTest> refuse(Supplier<B> good, Function<B, ?> call, List<Case<B>>... fields) {
        List<DynamicTest> tests = new ArrayList<>();
        for (List<Case<B>> field : fields) {
            field.forEach(each -> tests.add(dynamicTest(each.what(), () -> check(good.get(), call, each))));
        }
        return tests.stream();
    }

    private <B> void check(B request, Function<B, ?> call, Case<B> bad) {
        bad.spoil().accept(request);
        List<String> before = served.ceph().everything();
        Status status = ServedController.statusOf(() -> call.apply(request));
        String said = String.valueOf(status.getDescription());
        assertEquals(bad.code(), status.getCode(), said);
        if (bad.code() != Code.OK) {
            assertTrue(said.contains(bad.names()), "the message names " + bad.names() + ": " + said);
        }
        assertFalse(said.contains("hunter2"), "no secret in: " + said);
        assertTrue(said.chars().noneMatch(Character::isISOControl), "no control character in: " + said);
        assertEquals(before, served.ceph().everything(), "the cluster is as it was");
    }

    private static <B> List<Case<B>> also(String what, Consumer<B> spoil, Code code, String names) {
        return List.of(new Case<>(what, spoil, code, names));
    }

    private static TopologyRequirement topology() {
        return TopologyRequirement.newBuilder()
                .addRequisite(Topology.newBuilder().putSegments("zone", "z1"))
                .build();
    }

    private static <B> List<Case<B>> capacity(Function<B, CapacityRange.Builder> range, Consumer<B> empty, long least) {
        return List.of(
                new Case<>("capacity_range empty", empty, Code.INVALID_ARGUMENT, "capacity_range"),
                new Case<>(
                        "required_bytes negative",
                        b -> range.apply(b).setRequiredBytes(-1),
                        Code.OUT_OF_RANGE,
                        "capacity_range"),
                new Case<>(
                        "limit_bytes negative",
                        b -> range.apply(b).setLimitBytes(-1),
                        Code.OUT_OF_RANGE,
                        "capacity_range"),
                new Case<>(
                        "limit_bytes too low",
                        b -> range.apply(b).setRequiredBytes(least).setLimitBytes(least - 1),
                        Code.OUT_OF_RANGE,
                        "capacity_range"));
    }

    @TestFactory
    Stream<DynamicTest> createVolume() {
        Supplier<CreateVolumeRequest.Builder> good = () -> Requests.createVolume("new");
        return refuse(
                good,
                request -> served.controller().createVolume(request.build()),
                name("name", CreateVolumeRequest.Builder::setName),
                capability("volume_capabilities", CreateVolumeRequest.Builder::addVolumeCapabilities),
                also("no capability", b -> b.clearVolumeCapabilities(), Code.INVALID_ARGUMENT, "volume_capabilities"),
                capacity(
                        CreateVolumeRequest.Builder::getCapacityRangeBuilder,
                        b -> b.setCapacityRange(CapacityRange.getDefaultInstance()),
                        Requests.GIB),
                classParameters("parameters", CreateVolumeRequest.Builder::putParameters),
                parameters("mutable_parameters", CreateVolumeRequest.Builder::putModifiableParameters),
                also(
                        "mutable_parameters that cannot change",
                        b -> b.putModifiableParameters("owner", "u1"),
                        Code.INVALID_ARGUMENT,
                        "mutable_parameters"),
                secrets(CreateVolumeRequest.Builder::putSecrets),
                also(
                        "topology",
                        b -> b.setAccessibilityRequirements(topology()),
                        Code.INVALID_ARGUMENT,
                        "accessibility_requirements"),
                also(
                        "source of no type",
                        b -> b.setVolumeContentSource(VolumeContentSource.getDefaultInstance()),
                        Code.INVALID_ARGUMENT,
                        "volume_content_source"),
                volumeId(
                        "volume_content_source.volume.volume_id",
                        (b, id) -> b.getVolumeContentSourceBuilder()
                                .getVolumeBuilder()
                                .setVolumeId(id),
                        Code.NOT_FOUND,
                        Code.NOT_FOUND),
                snapshotId(
                        "volume_content_source.snapshot.snapshot_id",
                        (b, id) -> b.getVolumeContentSourceBuilder()
                                .getSnapshotBuilder()
                                .setSnapshotId(id),
                        Code.NOT_FOUND,
                        Code.NOT_FOUND),
                also(
                        "static source",
                        b -> b.getVolumeContentSourceBuilder()
                                .getVolumeBuilder()
                                .setVolumeId("static:lab:fs:/data"),
                        Code.INVALID_ARGUMENT,
                        "volume_content_source"),
                also(
                        "existing name and another size",
                        b -> b.setName("pvc-1").getCapacityRangeBuilder().setRequiredBytes(2 * Requests.GIB),
                        Code.ALREADY_EXISTS,
                        "capacity_range"));
    }

    @TestFactory
    Stream<DynamicTest> deleteVolume() {
        Supplier<DeleteVolumeRequest.Builder> good =
                () -> DeleteVolumeRequest.newBuilder().setVolumeId(volume);
        return refuse(
                good,
                request -> served.controller().deleteVolume(request.build()),
                volumeId("volume_id", DeleteVolumeRequest.Builder::setVolumeId, Code.OK, Code.FAILED_PRECONDITION),
                secrets(DeleteVolumeRequest.Builder::putSecrets),
                also(
                        "static volume",
                        b -> b.setVolumeId("static:lab:fs:/data"),
                        Code.FAILED_PRECONDITION,
                        "static:lab:fs:/data"));
    }

    @TestFactory
    Stream<DynamicTest> controllerPublishVolume() {
        Supplier<ControllerPublishVolumeRequest.Builder> good = () -> ControllerPublishVolumeRequest.newBuilder()
                .setVolumeId(volume)
                .setNodeId(NODE)
                .setVolumeCapability(Requests.writer());
        return refuse(
                good,
                request -> served.controller().controllerPublishVolume(request.build()),
                volumeId(
                        "volume_id",
                        ControllerPublishVolumeRequest.Builder::setVolumeId,
                        Code.NOT_FOUND,
                        Code.NOT_FOUND),
                malformedId("node_id", ControllerPublishVolumeRequest.Builder::setNodeId, 256),
                also("node without address", b -> b.setNodeId("node-1"), Code.NOT_FOUND, "node_id"),
                also("node of another form", b -> b.setNodeId("../node@1"), Code.NOT_FOUND, "node_id"),
                capability("volume_capability", ControllerPublishVolumeRequest.Builder::setVolumeCapability),
                also("no capability", b -> b.clearVolumeCapability(), Code.INVALID_ARGUMENT, "volume_capability"),
                also("unknown context", b -> b.putVolumeContext("typo", "1"), Code.INVALID_ARGUMENT, "volume_context"),
                also(
                        "context too large",
                        b -> b.putVolumeContext("owner", "x".repeat(5000)),
                        Code.INVALID_ARGUMENT,
                        "volume_context"),
                secrets(ControllerPublishVolumeRequest.Builder::putSecrets));
    }

    @TestFactory
    Stream<DynamicTest> controllerUnpublishVolume() {
        Supplier<ControllerUnpublishVolumeRequest.Builder> good = () -> ControllerUnpublishVolumeRequest.newBuilder()
                .setVolumeId(volume)
                .setNodeId(NODE);
        return refuse(
                good,
                request -> served.controller().controllerUnpublishVolume(request.build()),
                volumeId(
                        "volume_id",
                        ControllerUnpublishVolumeRequest.Builder::setVolumeId,
                        Code.OK,
                        Code.FAILED_PRECONDITION),
                malformedId("node_id", ControllerUnpublishVolumeRequest.Builder::setNodeId, 256).stream()
                        .filter(each -> !each.what().endsWith("missing"))
                        .toList(),
                secrets(ControllerUnpublishVolumeRequest.Builder::putSecrets));
    }

    @TestFactory
    Stream<DynamicTest> validateVolumeCapabilities() {
        Supplier<ValidateVolumeCapabilitiesRequest.Builder> good = () -> ValidateVolumeCapabilitiesRequest.newBuilder()
                .setVolumeId(volume)
                .addVolumeCapabilities(Requests.writer());
        return refuse(
                good,
                request -> served.controller().validateVolumeCapabilities(request.build()),
                volumeId(
                        "volume_id",
                        ValidateVolumeCapabilitiesRequest.Builder::setVolumeId,
                        Code.NOT_FOUND,
                        Code.NOT_FOUND),
                also("no capability", b -> b.clearVolumeCapabilities(), Code.INVALID_ARGUMENT, "volume_capabilities"),
                also(
                        "capability without type",
                        b -> b.addVolumeCapabilities(VolumeCapability.getDefaultInstance()),
                        Code.INVALID_ARGUMENT,
                        "volume_capabilities[1]"),
                also(
                        "parameters too large",
                        b -> b.putParameters("owner", "x".repeat(5000)),
                        Code.INVALID_ARGUMENT,
                        "parameters"),
                secrets(ValidateVolumeCapabilitiesRequest.Builder::putSecrets));
    }

    @TestFactory
    Stream<DynamicTest> lists() {
        return Stream.of(
                        refuse(
                                ListVolumesRequest::newBuilder,
                                request -> served.controller().listVolumes(request.build()),
                                also("max", b -> b.setMaxEntries(-1), Code.INVALID_ARGUMENT, "max_entries"),
                                tokens(ListVolumesRequest.Builder::setStartingToken)),
                        refuse(
                                ControllerListVolumeHealthRequest::newBuilder,
                                request -> served.controller().controllerListVolumeHealth(request.build()),
                                also("max", b -> b.setMaxEntries(-1), Code.INVALID_ARGUMENT, "max_entries"),
                                tokens(ControllerListVolumeHealthRequest.Builder::setStartingToken),
                                secrets(ControllerListVolumeHealthRequest.Builder::putSecrets)),
                        refuse(
                                ListSnapshotsRequest::newBuilder,
                                request -> served.controller().listSnapshots(request.build()),
                                also("max", b -> b.setMaxEntries(-1), Code.INVALID_ARGUMENT, "max_entries"),
                                tokens(ListSnapshotsRequest.Builder::setStartingToken),
                                secrets(ListSnapshotsRequest.Builder::putSecrets),
                                filters(volumeId(
                                        "source_volume_id",
                                        ListSnapshotsRequest.Builder::setSourceVolumeId,
                                        Code.OK,
                                        Code.OK)),
                                filters(snapshotId(
                                        "snapshot_id", ListSnapshotsRequest.Builder::setSnapshotId, Code.OK, Code.OK))))
                .flatMap(Function.identity());
    }

    private static <B> List<Case<B>> tokens(java.util.function.BiConsumer<B, String> set) {
        return Stream.of("invalid-token", "x".repeat(1000), "\u0000", BadRequests.UNKNOWN_VERSION, "static:lab:fs:/a")
                .map(token -> new Case<B>(
                        "token " + token.length(), b -> set.accept(b, token), Code.ABORTED, "starting_token"))
                .toList();
    }

    /// Removes the cases of a missing field: a filter is optional.
    private static <B> List<Case<B>> filters(List<Case<B>> cases) {
        return cases.stream().filter(each -> !each.what().endsWith("missing")).toList();
    }

    @TestFactory
    Stream<DynamicTest> getVolumeAndHealth() {
        return Stream.concat(
                refuse(
                        () -> ControllerGetVolumeRequest.newBuilder().setVolumeId(volume),
                        request -> served.controller().controllerGetVolume(request.build()),
                        volumeId(
                                "volume_id",
                                ControllerGetVolumeRequest.Builder::setVolumeId,
                                Code.NOT_FOUND,
                                Code.NOT_FOUND)),
                refuse(
                        () -> ControllerGetVolumeHealthRequest.newBuilder().setVolumeId(volume),
                        request -> served.controller().controllerGetVolumeHealth(request.build()),
                        volumeId(
                                "volume_id",
                                ControllerGetVolumeHealthRequest.Builder::setVolumeId,
                                Code.NOT_FOUND,
                                Code.NOT_FOUND),
                        secrets(ControllerGetVolumeHealthRequest.Builder::putSecrets)));
    }

    @TestFactory
    Stream<DynamicTest> getCapacity() {
        return refuse(
                GetCapacityRequest::newBuilder,
                request -> served.controller().getCapacity(request.build()),
                classParameters("parameters", GetCapacityRequest.Builder::putParameters),
                capability("volume_capabilities", GetCapacityRequest.Builder::addVolumeCapabilities),
                also(
                        "topology",
                        b -> b.getAccessibleTopologyBuilder().putSegments("zone", "z1"),
                        Code.INVALID_ARGUMENT,
                        "accessible_topology"));
    }

    @TestFactory
    Stream<DynamicTest> controllerExpandVolume() {
        return refuse(
                () -> ControllerExpandVolumeRequest.newBuilder()
                        .setVolumeId(volume)
                        .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(2 * Requests.GIB)),
                request -> served.controller().controllerExpandVolume(request.build()),
                volumeId(
                        "volume_id",
                        ControllerExpandVolumeRequest.Builder::setVolumeId,
                        Code.NOT_FOUND,
                        Code.NOT_FOUND),
                capacity(
                        ControllerExpandVolumeRequest.Builder::getCapacityRangeBuilder,
                        b -> b.setCapacityRange(CapacityRange.getDefaultInstance()),
                        2 * Requests.GIB),
                also("no range", b -> b.clearCapacityRange(), Code.INVALID_ARGUMENT, "capacity_range"),
                also(
                        "smaller limit",
                        b -> b.getCapacityRangeBuilder().setRequiredBytes(0).setLimitBytes(1),
                        Code.OUT_OF_RANGE,
                        "limit_bytes"),
                capability("volume_capability", ControllerExpandVolumeRequest.Builder::setVolumeCapability),
                secrets(ControllerExpandVolumeRequest.Builder::putSecrets));
    }

    @TestFactory
    Stream<DynamicTest> controllerModifyVolume() {
        return refuse(
                () -> ControllerModifyVolumeRequest.newBuilder()
                        .setVolumeId(volume)
                        .putMutableParameters("quotaFiles", "7"),
                request -> served.controller().controllerModifyVolume(request.build()),
                volumeId(
                        "volume_id",
                        ControllerModifyVolumeRequest.Builder::setVolumeId,
                        Code.NOT_FOUND,
                        Code.NOT_FOUND),
                parameters("mutable_parameters", ControllerModifyVolumeRequest.Builder::putMutableParameters),
                also("none, which changes nothing", b -> b.clearMutableParameters(), Code.OK, ""),
                also(
                        "what cannot change",
                        b -> b.putMutableParameters("uid", "7"),
                        Code.INVALID_ARGUMENT,
                        "mutable_parameters"),
                secrets(ControllerModifyVolumeRequest.Builder::putSecrets));
    }

    @TestFactory
    Stream<DynamicTest> createSnapshot() {
        return refuse(
                () -> Requests.createSnapshot(volume, "new"),
                request -> served.controller().createSnapshot(request.build()),
                name("name", CreateSnapshotRequest.Builder::setName),
                volumeId(
                        "source_volume_id",
                        CreateSnapshotRequest.Builder::setSourceVolumeId,
                        Code.NOT_FOUND,
                        Code.NOT_FOUND),
                also(
                        "static volume",
                        b -> b.setSourceVolumeId("static:lab:fs:/data"),
                        Code.INVALID_ARGUMENT,
                        "source_volume_id"),
                also("parameters", b -> b.putParameters("any", "1"), Code.INVALID_ARGUMENT, "parameters"),
                also(
                        "topology",
                        b -> b.setAccessibilityRequirements(topology()),
                        Code.INVALID_ARGUMENT,
                        "accessibility_requirements"),
                secrets(CreateSnapshotRequest.Builder::putSecrets));
    }

    @TestFactory
    Stream<DynamicTest> deleteAndGetSnapshot() {
        return Stream.concat(
                refuse(
                        () -> DeleteSnapshotRequest.newBuilder().setSnapshotId(snapshot),
                        request -> served.controller().deleteSnapshot(request.build()),
                        snapshotId(
                                "snapshot_id",
                                DeleteSnapshotRequest.Builder::setSnapshotId,
                                Code.OK,
                                Code.FAILED_PRECONDITION),
                        also(
                                "of a group",
                                b -> b.setSnapshotId(group.getSnapshots(0).getSnapshotId()),
                                Code.INVALID_ARGUMENT,
                                "snapshot_id"),
                        secrets(DeleteSnapshotRequest.Builder::putSecrets)),
                refuse(
                        () -> GetSnapshotRequest.newBuilder().setSnapshotId(snapshot),
                        request -> served.controller().getSnapshot(request.build()),
                        snapshotId(
                                "snapshot_id",
                                GetSnapshotRequest.Builder::setSnapshotId,
                                Code.NOT_FOUND,
                                Code.NOT_FOUND),
                        secrets(GetSnapshotRequest.Builder::putSecrets)));
    }

    @TestFactory
    Stream<DynamicTest> createVolumeGroupSnapshot() {
        return refuse(
                () -> CreateVolumeGroupSnapshotRequest.newBuilder()
                        .setName("new")
                        .addSourceVolumeIds(volume),
                request -> served.groups().createVolumeGroupSnapshot(request.build()),
                name("name", CreateVolumeGroupSnapshotRequest.Builder::setName),
                volumeId(
                        "source_volume_ids",
                        CreateVolumeGroupSnapshotRequest.Builder::addSourceVolumeIds,
                        Code.NOT_FOUND,
                        Code.NOT_FOUND),
                also("no volume", b -> b.clearSourceVolumeIds(), Code.INVALID_ARGUMENT, "source_volume_ids"),
                also(
                        "static volume",
                        b -> b.addSourceVolumeIds("static:lab:fs:/data"),
                        Code.INVALID_ARGUMENT,
                        "source_volume_ids"),
                also("parameters", b -> b.putParameters("any", "1"), Code.INVALID_ARGUMENT, "parameters"),
                secrets(CreateVolumeGroupSnapshotRequest.Builder::putSecrets));
    }

    @TestFactory
    Stream<DynamicTest> deleteAndGetVolumeGroupSnapshot() {
        String unknown = "s1g:lab:fs:g0123456789abcdefghij";
        List<String> members =
                group.getSnapshotsList().stream().map(Snapshot::getSnapshotId).toList();
        return Stream.concat(
                refuse(
                        () -> DeleteVolumeGroupSnapshotRequest.newBuilder()
                                .setGroupSnapshotId(group.getGroupSnapshotId())
                                .addAllSnapshotIds(members),
                        request -> served.groups().deleteVolumeGroupSnapshot(request.build()),
                        malformedId(
                                "group_snapshot_id", DeleteVolumeGroupSnapshotRequest.Builder::setGroupSnapshotId, 128),
                        also("not ours", b -> b.setGroupSnapshotId("group-1"), Code.OK, ""),
                        List.of(otherVersion(
                                "group_snapshot_id",
                                DeleteVolumeGroupSnapshotRequest.Builder::setGroupSnapshotId,
                                "s2g:lab:fs:g1")),
                        List.of(otherVersion(
                                "snapshot_ids",
                                DeleteVolumeGroupSnapshotRequest.Builder::addSnapshotIds,
                                BadRequests.UNKNOWN_VERSION + "@s")),
                        also("others", b -> b.setGroupSnapshotId(unknown), Code.INVALID_ARGUMENT, "snapshot_ids"),
                        also("none", b -> b.clearSnapshotIds(), Code.INVALID_ARGUMENT, "snapshot_ids"),
                        also(
                                "one is missing",
                                b -> b.clearSnapshotIds().addSnapshotIds(members.getFirst()),
                                Code.INVALID_ARGUMENT,
                                "snapshot_ids"),
                        also("a stranger", b -> b.addSnapshotIds(snapshot), Code.INVALID_ARGUMENT, "snapshot_ids"),
                        also("no id", b -> b.addSnapshotIds("x"), Code.INVALID_ARGUMENT, "snapshot_ids"),
                        secrets(DeleteVolumeGroupSnapshotRequest.Builder::putSecrets)),
                refuse(
                        () -> GetVolumeGroupSnapshotRequest.newBuilder()
                                .setGroupSnapshotId(group.getGroupSnapshotId())
                                .addAllSnapshotIds(members),
                        request -> served.groups().getVolumeGroupSnapshot(request.build()),
                        malformedId(
                                "group_snapshot_id", GetVolumeGroupSnapshotRequest.Builder::setGroupSnapshotId, 128),
                        also("not ours", b -> b.setGroupSnapshotId("group-1"), Code.NOT_FOUND, "group"),
                        List.of(otherVersion(
                                "group_snapshot_id",
                                GetVolumeGroupSnapshotRequest.Builder::setGroupSnapshotId,
                                "s2g:lab:fs:g1")),
                        also(
                                "elsewhere",
                                b -> b.setGroupSnapshotId("s1g:other:fs:g0123456789abcdefghij"),
                                Code.NOT_FOUND,
                                "clusters file"),
                        also("none", b -> b.clearSnapshotIds(), Code.INVALID_ARGUMENT, "snapshot_ids"),
                        also("a stranger", b -> b.addSnapshotIds(snapshot), Code.INVALID_ARGUMENT, "snapshot_ids"),
                        secrets(GetVolumeGroupSnapshotRequest.Builder::putSecrets)));
    }
}

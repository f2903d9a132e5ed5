package dev.siphon.controller.rpc;

import static dev.siphon.controller.rpc.Requests.GIB;
import static dev.siphon.controller.rpc.Requests.createSnapshot;
import static dev.siphon.controller.rpc.Requests.createVolume;
import static dev.siphon.controller.rpc.Requests.mount;
import static dev.siphon.controller.rpc.Requests.writer;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerGetCapabilitiesRequest;
import csi.v1.ControllerGetVolumeHealthRequest;
import csi.v1.ControllerGetVolumeRequest;
import csi.v1.ControllerListVolumeHealthRequest;
import csi.v1.ControllerModifyVolumeRequest;
import csi.v1.ControllerPublishVolumeRequest;
import csi.v1.ControllerServiceCapability;
import csi.v1.ControllerUnpublishVolumeRequest;
import csi.v1.CreateVolumeGroupSnapshotRequest;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.DeleteVolumeGroupSnapshotRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.GetSnapshotRequest;
import csi.v1.GetVolumeGroupSnapshotRequest;
import csi.v1.GroupControllerGetCapabilitiesRequest;
import csi.v1.ListSnapshotsRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.Snapshot;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.ValidateVolumeCapabilitiesResponse;
import csi.v1.Volume;
import csi.v1.VolumeCapability.AccessMode.Mode;
import csi.v1.VolumeContentSource;
import csi.v1.VolumeGroupSnapshot;
import csi.v1.VolumeHealthErrorType;
import io.grpc.Status;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Each RPC from a caller's view: success, and repetition.
final class ControllerServiceTest {
    private static final String NODE = "node-1@192.0.2.1";

    private final ServedController served = ServedController.start(true);

    @AfterEach
    void stop() {
        served.close();
    }

    private Volume volume(String name) {
        return served.controller().createVolume(createVolume(name).build()).getVolume();
    }

    private Snapshot snapshot(Volume volume, String name) {
        return served.controller()
                .createSnapshot(createSnapshot(volume.getVolumeId(), name).build())
                .getSnapshot();
    }

    @Test
    void capabilitiesAreThoseOfTheMode() {
        Set<String> attach = capabilities(served);
        Set<String> more = Set.of("PUBLISH_UNPUBLISH_VOLUME", "PUBLISH_READONLY", "LIST_VOLUMES_PUBLISHED_NODES");
        assertTrue(attach.containsAll(more));
        try (ServedController plain = ServedController.start(false)) {
            Set<String> without = capabilities(plain);
            assertEquals(13, without.size());
            assertTrue(without.stream().noneMatch(more::contains));
            assertEquals(16, attach.size());
        }
        assertEquals(
                1,
                served.groups()
                        .groupControllerGetCapabilities(GroupControllerGetCapabilitiesRequest.getDefaultInstance())
                        .getCapabilitiesCount());
    }

    private static Set<String> capabilities(ServedController served) {
        return served
                .controller()
                .controllerGetCapabilities(ControllerGetCapabilitiesRequest.getDefaultInstance())
                .getCapabilitiesList()
                .stream()
                .map(ControllerServiceCapability::getRpc)
                .map(rpc -> rpc.getType().name())
                .collect(Collectors.toSet());
    }

    @Test
    void aVolumeIsCreatedOnceAndDeletedOnce() {
        Volume made = volume("pvc-1");
        assertEquals(made, volume("pvc-1"));
        assertEquals(GIB, made.getCapacityBytes());
        assertTrue(made.getVolumeId().startsWith("s1:lab:fs:a"), made.getVolumeId());
        assertTrue(made.getVolumeId().length() <= 128);
        assertEquals("u1", made.getVolumeContextOrThrow("owner"));
        for (int i = 0; i < 2; i++) {
            var _ = served.controller()
                    .deleteVolume(DeleteVolumeRequest.newBuilder()
                            .setVolumeId(made.getVolumeId())
                            .build());
        }
    }

    @Test
    void theLongestNameIsAName() {
        volume("x".repeat(128));
        snapshot(volume("pvc-1"), "y".repeat(128));
        volume("tab\tand\nline and ünïcode");
    }

    @Test
    void aVolumeSaysWhatItsContentsCameFrom() {
        Volume source = volume("pvc-1");
        Snapshot snapshot = snapshot(source, "snap-1");
        var fromSnapshot = VolumeContentSource.newBuilder()
                .setSnapshot(VolumeContentSource.SnapshotSource.newBuilder().setSnapshotId(snapshot.getSnapshotId()))
                .build();
        var fromVolume = VolumeContentSource.newBuilder()
                .setVolume(VolumeContentSource.VolumeSource.newBuilder().setVolumeId(source.getVolumeId()))
                .build();
        for (VolumeContentSource each : List.of(fromSnapshot, fromVolume)) {
            var request = createVolume("copy-" + each.getTypeCase()).setVolumeContentSource(each);
            Volume made = served.controller().createVolume(request.build()).getVolume();
            assertEquals(each, made.getContentSource());
        }
        var view = createVolume("view")
                .clearVolumeCapabilities()
                .addVolumeCapabilities(mount(Mode.MULTI_NODE_READER_ONLY))
                .setVolumeContentSource(fromSnapshot);
        Volume made = served.controller().createVolume(view.build()).getVolume();
        assertEquals("true", made.getVolumeContextOrThrow("readOnly"));
        assertEquals("", confirmedOr(made, Mode.MULTI_NODE_READER_ONLY).getMessage());
        assertTrue(confirmedOr(made, Mode.MULTI_NODE_MULTI_WRITER).getMessage().contains("is a snapshot"));
    }

    private ValidateVolumeCapabilitiesResponse confirmedOr(Volume volume, Mode mode) {
        return served.controller()
                .validateVolumeCapabilities(ValidateVolumeCapabilitiesRequest.newBuilder()
                        .setVolumeId(volume.getVolumeId())
                        .putAllVolumeContext(volume.getVolumeContextMap())
                        .addVolumeCapabilities(mount(mode))
                        .build());
    }

    @Test
    void whatAVolumeCanDoIsConfirmedWhole() {
        Volume made = volume("pvc-1");
        for (Mode mode : Mode.values()) {
            if (mode != Mode.UNKNOWN && mode != Mode.UNRECOGNIZED) {
                var answer = confirmedOr(made, mode);
                assertEquals(List.of(mount(mode)), answer.getConfirmed().getVolumeCapabilitiesList());
                assertEquals(made.getVolumeContextMap(), answer.getConfirmed().getVolumeContextMap());
            }
        }
        var request = ValidateVolumeCapabilitiesRequest.newBuilder()
                .setVolumeId(made.getVolumeId())
                .addVolumeCapabilities(writer())
                .putParameters("mode", "0750")
                .putModifiableParameters("quotaFiles", "5");
        var confirmed =
                served.controller().validateVolumeCapabilities(request.build()).getConfirmed();
        assertEquals("0750", confirmed.getParametersOrThrow("mode"));
        assertEquals("5", confirmed.getModifiableParametersOrThrow("quotaFiles"));
        for (var wrong : List.of(
                request.clone().addVolumeCapabilities(Requests.block()),
                request.clone().putParameters("typo", "1"),
                request.clone().putModifiableParameters("owner", "u1"),
                request.clone().putVolumeContext("typo", "1"))) {
            var answer = served.controller().validateVolumeCapabilities(wrong.build());
            assertFalse(answer.hasConfirmed());
            assertFalse(answer.getMessage().isEmpty());
        }
    }

    @Test
    void aVolumeGrowsChangesAndTellsOfItself() {
        Volume made = volume("pvc-1");
        var expanded = served.controller()
                .controllerExpandVolume(ControllerExpandVolumeRequest.newBuilder()
                        .setVolumeId(made.getVolumeId())
                        .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(2 * GIB))
                        .setVolumeCapability(writer())
                        .build());
        assertEquals(2 * GIB, expanded.getCapacityBytes());
        assertFalse(expanded.getNodeExpansionRequired());
        var _ = served.controller()
                .controllerModifyVolume(ControllerModifyVolumeRequest.newBuilder()
                        .setVolumeId(made.getVolumeId())
                        .putMutableParameters("quotaFiles", "7")
                        .build());
        var got = served.controller()
                .controllerGetVolume(ControllerGetVolumeRequest.newBuilder()
                        .setVolumeId(made.getVolumeId())
                        .build());
        assertEquals(2 * GIB, got.getVolume().getCapacityBytes());
        assertTrue(got.hasStatus());
        var health = served.controller()
                .controllerGetVolumeHealth(ControllerGetVolumeHealthRequest.newBuilder()
                        .setVolumeId(made.getVolumeId())
                        .build());
        assertEquals(made.getVolumeId(), health.getVolumeHealth().getVolumeId());
        assertEquals(0, health.getVolumeHealth().getHealthStatusesCount());
        assertEquals(
                1L << 50,
                served.controller()
                        .getCapacity(GetCapacityRequest.newBuilder()
                                .addVolumeCapabilities(writer())
                                .build())
                        .getAvailableCapacity());
    }

    @Test
    void aFullVolumeIsListedAsDegraded() {
        var request = createVolume("pvc-1")
                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(4));
        Volume made = served.controller().createVolume(request.build()).getVolume();
        volume("pvc-2");
        served.ceph().write(dev.siphon.csi.VolumeId.parse(made.getVolumeId()), "file", "four");
        var sick = served.controller()
                .controllerListVolumeHealth(ControllerListVolumeHealthRequest.getDefaultInstance())
                .getEntriesList();
        assertEquals(1, sick.size());
        assertEquals(made.getVolumeId(), sick.getFirst().getVolumeId());
        assertEquals(
                VolumeHealthErrorType.DEGRADED,
                sick.getFirst().getHealthStatuses(0).getStatus());
    }

    @Test
    void withoutKubernetesNoSnapshotBecomesADataset() {
        Volume source = volume("pvc-1");
        var request = createSnapshot(source.getVolumeId(), "snap-1")
                .putParameters("kind", "dataset")
                .putParameters("csi.storage.k8s.io/volumesnapshot/namespace", "u1")
                .putParameters("csi.storage.k8s.io/volumesnapshot/name", "v1")
                .build();
        Status refused = ServedController.statusOf(() -> served.controller().createSnapshot(request));
        assertEquals(Status.Code.INVALID_ARGUMENT, refused.getCode());
        assertTrue(String.valueOf(refused.getDescription()).contains("siphon dataset seal"), refused::toString);
        assertTrue(snapshot(source, "snap-1").getReadyToUse());
    }

    @Test
    void volumesAndSnapshotsAreListedInPages() {
        Volume one = volume("pvc-1");
        Volume two = volume("pvc-2");
        snapshot(one, "snap-1");
        Snapshot second = snapshot(two, "snap-2");
        var first = served.controller()
                .listVolumes(ListVolumesRequest.newBuilder().setMaxEntries(1).build());
        var next = served.controller()
                .listVolumes(ListVolumesRequest.newBuilder()
                        .setStartingToken(first.getNextToken())
                        .build());
        assertEquals(
                Set.of(one.getVolumeId(), two.getVolumeId()),
                Set.of(
                        first.getEntries(0).getVolume().getVolumeId(),
                        next.getEntries(0).getVolume().getVolumeId()));
        assertEquals(
                List.of(second), snapshots(ListSnapshotsRequest.newBuilder().setSourceVolumeId(two.getVolumeId())));
        assertEquals(
                List.of(second), snapshots(ListSnapshotsRequest.newBuilder().setSnapshotId(second.getSnapshotId())));
        assertEquals(
                List.of(),
                snapshots(ListSnapshotsRequest.newBuilder()
                        .setSnapshotId(second.getSnapshotId())
                        .setSourceVolumeId(one.getVolumeId())));
        assertEquals(2, snapshots(ListSnapshotsRequest.newBuilder()).size());
    }

    private List<Snapshot> snapshots(ListSnapshotsRequest.Builder request) {
        return served.controller().listSnapshots(request.build()).getEntriesList().stream()
                .map(entry -> entry.getSnapshot())
                .toList();
    }

    @Test
    void aSnapshotIsTakenFoundAndDeleted() {
        Volume volume = volume("pvc-1");
        Snapshot taken = snapshot(volume, "snap-1");
        assertEquals(taken, snapshot(volume, "snap-1"));
        assertTrue(taken.getReadyToUse());
        assertEquals(GIB, taken.getSizeBytes());
        assertEquals(volume.getVolumeId(), taken.getSourceVolumeId());
        assertTrue(taken.getCreationTime().getSeconds() > 0);
        var get = GetSnapshotRequest.newBuilder()
                .setSnapshotId(taken.getSnapshotId())
                .build();
        assertEquals(taken, served.controller().getSnapshot(get).getSnapshot());
        for (int i = 0; i < 2; i++) {
            var _ = served.controller()
                    .deleteSnapshot(DeleteSnapshotRequest.newBuilder()
                            .setSnapshotId(taken.getSnapshotId())
                            .build());
        }
        assertEquals(
                Status.Code.NOT_FOUND,
                ServedController.statusOf(() -> served.controller().getSnapshot(get))
                        .getCode());
    }

    @Test
    void aGroupOfSnapshotsIsTakenFoundAndDeleted() {
        var create = CreateVolumeGroupSnapshotRequest.newBuilder()
                .setName("group-1")
                .addSourceVolumeIds(volume("pvc-1").getVolumeId())
                .addSourceVolumeIds(volume("pvc-2").getVolumeId())
                .build();
        VolumeGroupSnapshot taken =
                served.groups().createVolumeGroupSnapshot(create).getGroupSnapshot();
        assertEquals(taken, served.groups().createVolumeGroupSnapshot(create).getGroupSnapshot());
        assertTrue(taken.getReadyToUse());
        assertEquals(2, taken.getSnapshotsCount());
        List<String> members =
                taken.getSnapshotsList().stream().map(Snapshot::getSnapshotId).toList();
        taken.getSnapshotsList().forEach(each -> assertEquals(taken.getGroupSnapshotId(), each.getGroupSnapshotId()));
        var get = GetVolumeGroupSnapshotRequest.newBuilder()
                .setGroupSnapshotId(taken.getGroupSnapshotId())
                .addAllSnapshotIds(members)
                .build();
        assertEquals(taken, served.groups().getVolumeGroupSnapshot(get).getGroupSnapshot());
        for (int i = 0; i < 2; i++) {
            var _ = served.groups()
                    .deleteVolumeGroupSnapshot(DeleteVolumeGroupSnapshotRequest.newBuilder()
                            .setGroupSnapshotId(taken.getGroupSnapshotId())
                            .addAllSnapshotIds(members)
                            .build());
        }
        assertEquals(
                Status.Code.NOT_FOUND,
                ServedController.statusOf(() -> served.groups().getVolumeGroupSnapshot(get))
                        .getCode());
    }

    @Test
    void aVolumeIsAttachedListedAndDetached() {
        Volume volume = volume("pvc-1");
        var publish = ControllerPublishVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setNodeId(NODE)
                .setVolumeCapability(writer())
                .putAllVolumeContext(volume.getVolumeContextMap())
                .build();
        for (int i = 0; i < 2; i++) {
            var _ = served.controller().controllerPublishVolume(publish);
        }
        var entry = served.controller()
                .listVolumes(ListVolumesRequest.getDefaultInstance())
                .getEntries(0);
        assertEquals(List.of(NODE), entry.getStatus().getPublishedNodeIdsList());
        var delete = DeleteVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .build();
        assertEquals(
                Status.Code.FAILED_PRECONDITION,
                ServedController.statusOf(() -> served.controller().deleteVolume(delete))
                        .getCode());
        for (int i = 0; i < 2; i++) {
            var _ = served.controller()
                    .controllerUnpublishVolume(ControllerUnpublishVolumeRequest.newBuilder()
                            .setVolumeId(volume.getVolumeId())
                            .setNodeId(NODE)
                            .build());
        }
        var _ = served.controller().deleteVolume(delete);
    }

    @Test
    void withoutAttachModeThereIsNoAttaching() {
        try (ServedController plain = ServedController.start(false)) {
            Status status = ServedController.statusOf(() ->
                    plain.controller().controllerPublishVolume(ControllerPublishVolumeRequest.getDefaultInstance()));
            assertEquals(Status.Code.UNIMPLEMENTED, status.getCode());
            status = ServedController.statusOf(() -> plain.controller()
                    .controllerUnpublishVolume(ControllerUnpublishVolumeRequest.getDefaultInstance()));
            assertEquals(Status.Code.UNIMPLEMENTED, status.getCode());
        }
    }
}

package dev.siphon.e2e.isolation;

import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerGetVolumeRequest;
import csi.v1.ControllerModifyVolumeRequest;
import csi.v1.CreateVolumeGroupSnapshotRequest;
import csi.v1.DeleteVolumeGroupSnapshotRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.ListSnapshotsRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.Volume;
import csi.v1.VolumeGroupSnapshot;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import java.util.Map;

/// Every RPC of the controller that concerns a volume, one after another, as a CO makes them.
record EveryControllerRpc(CsiClient client) {
    /// Makes the calls; each succeeds, and what they create is deleted.
    void call(Volume volume, String owner) {
        String id = volume.getVolumeId();
        var controller = client.controller();
        var _ = controller.validateVolumeCapabilities(ValidateVolumeCapabilitiesRequest.newBuilder()
                .setVolumeId(id)
                .addVolumeCapabilities(Requests.shared())
                .build());
        var _ = controller.controllerGetVolume(
                ControllerGetVolumeRequest.newBuilder().setVolumeId(id).build());
        var _ = controller.listVolumes(ListVolumesRequest.getDefaultInstance());
        var _ = controller.getCapacity(
                GetCapacityRequest.newBuilder().putParameters("owner", owner).build());
        var _ = client.controller()
                .controllerExpandVolume(ControllerExpandVolumeRequest.newBuilder()
                        .setVolumeId(id)
                        .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(2 * Requests.GIB))
                        .build());
        var _ = client.controller()
                .controllerModifyVolume(ControllerModifyVolumeRequest.newBuilder()
                        .setVolumeId(id)
                        .putAllMutableParameters(Map.of("mode", "0750", "quotaFiles", "100"))
                        .build());
        snapshots(id);
        clone(volume, owner);
    }

    private void snapshots(String id) {
        var snapshot = client.controller()
                .createSnapshot(Requests.snapshot("of-everything", id))
                .getSnapshot();
        var _ = client.controller()
                .listSnapshots(
                        ListSnapshotsRequest.newBuilder().setSourceVolumeId(id).build());
        var _ = client.controller().deleteSnapshot(Requests.deleteSnapshot(snapshot.getSnapshotId()));
        VolumeGroupSnapshot group = client.groups()
                .createVolumeGroupSnapshot(CreateVolumeGroupSnapshotRequest.newBuilder()
                        .setName("group-of-one")
                        .addSourceVolumeIds(id)
                        .build())
                .getGroupSnapshot();
        var _ = client.groups()
                .deleteVolumeGroupSnapshot(DeleteVolumeGroupSnapshotRequest.newBuilder()
                        .setGroupSnapshotId(group.getGroupSnapshotId())
                        .addAllSnapshotIds(group.getSnapshotsList().stream()
                                .map(each -> each.getSnapshotId())
                                .toList())
                        .build());
    }

    private void clone(Volume volume, String owner) {
        var request = Requests.fromVolume(
                Requests.volume("clone-of-everything", owner, 2 * Requests.GIB), volume.getVolumeId());
        Volume made = Outcome.of(() -> client.controller().createVolume(request))
                .get()
                .getVolume();
        var _ = client.controller().deleteVolume(Requests.delete(made.getVolumeId()));
    }
}

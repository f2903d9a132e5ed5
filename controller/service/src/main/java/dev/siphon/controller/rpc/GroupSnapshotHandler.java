package dev.siphon.controller.rpc;

import csi.v1.CreateVolumeGroupSnapshotRequest;
import csi.v1.CreateVolumeGroupSnapshotResponse;
import csi.v1.DeleteVolumeGroupSnapshotRequest;
import csi.v1.DeleteVolumeGroupSnapshotResponse;
import csi.v1.GetVolumeGroupSnapshotRequest;
import csi.v1.GetVolumeGroupSnapshotResponse;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.GroupSnapshotId;
import dev.siphon.controller.volume.GroupSnapshots;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Optional;

/// Handles the RPCs about groups of snapshots.
final class GroupSnapshotHandler {
    private final GroupSnapshots groups;
    private final RequestIds ids;

    GroupSnapshotHandler(GroupSnapshots groups, RequestIds ids) {
        this.groups = groups;
        this.ids = ids;
    }

    CreateVolumeGroupSnapshotResponse create(CreateVolumeGroupSnapshotRequest request) {
        String name = RequestFields.name("name", request.getName());
        if (request.getSourceVolumeIdsCount() == 0) {
            throw new DriverException.InvalidRequest("source_volume_ids is required: at least one");
        }
        request.getSourceVolumeIdsList().forEach(id -> RequestFields.id("source_volume_ids", id));
        RequestFields.secrets(request.getSecretsMap());
        ClassParameters.checkGroupSnapshot(RequestFields.map("parameters", request.getParametersMap()));
        List<VolumeId> sources = request.getSourceVolumeIdsList().stream()
                .map(id -> ids.volume("source_volume_ids", id))
                .toList();
        return CreateVolumeGroupSnapshotResponse.newBuilder()
                .setGroupSnapshot(ProtoMessages.group(groups.create(name, sources)))
                .build();
    }

    DeleteVolumeGroupSnapshotResponse delete(DeleteVolumeGroupSnapshotRequest request) {
        Optional<GroupSnapshotId> id = ids.groupToRemove("group_snapshot_id", request.getGroupSnapshotId());
        RequestFields.secrets(request.getSecretsMap());
        id.ifPresent(group -> groups.delete(group, ids.members("snapshot_ids", request.getSnapshotIdsList())));
        return DeleteVolumeGroupSnapshotResponse.getDefaultInstance();
    }

    GetVolumeGroupSnapshotResponse get(GetVolumeGroupSnapshotRequest request) {
        GroupSnapshotId id = ids.group("group_snapshot_id", request.getGroupSnapshotId());
        RequestFields.secrets(request.getSecretsMap());
        return GetVolumeGroupSnapshotResponse.newBuilder()
                .setGroupSnapshot(
                        ProtoMessages.group(groups.get(id, ids.members("snapshot_ids", request.getSnapshotIdsList()))))
                .build();
    }
}

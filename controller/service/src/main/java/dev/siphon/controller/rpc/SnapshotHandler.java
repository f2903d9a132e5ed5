package dev.siphon.controller.rpc;

import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateSnapshotResponse;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.DeleteSnapshotResponse;
import csi.v1.GetSnapshotRequest;
import csi.v1.GetSnapshotResponse;
import csi.v1.ListSnapshotsRequest;
import csi.v1.ListSnapshotsResponse;
import dev.siphon.controller.seal.SealedSnapshots;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.controller.volume.SnapshotClass;
import dev.siphon.controller.volume.SnapshotView;
import dev.siphon.controller.volume.Snapshots;
import dev.siphon.controller.volume.VolumeListing;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Optional;

/// Handles the RPCs about snapshots.
final class SnapshotHandler {
    private final Snapshots snapshots;
    private final Optional<SealedSnapshots> sealed;
    private final VolumeListing volumeListing;
    private final RequestIds ids;

    /// @param sealed snapshots that become datasets; empty if nothing can seal them
    SnapshotHandler(
            Snapshots snapshots, Optional<SealedSnapshots> sealed, VolumeListing volumeListing, RequestIds ids) {
        this.snapshots = snapshots;
        this.sealed = sealed;
        this.volumeListing = volumeListing;
        this.ids = ids;
    }

    CreateSnapshotResponse create(CreateSnapshotRequest request) {
        String name = RequestFields.name("name", request.getName());
        String source = RequestFields.id("source_volume_id", request.getSourceVolumeId());
        RequestFields.secrets(request.getSecretsMap());
        SnapshotClass parameters = SnapshotClass.parse(RequestFields.map("parameters", request.getParametersMap()));
        RequestFields.noTopology("accessibility_requirements", request.getAccessibilityRequirements());
        VolumeId volume = ids.volume("source_volume_id", source);
        SnapshotView taken = parameters
                .sealing()
                .map(sealing -> sealing().create(volume, name, sealing))
                .orElseGet(() -> snapshots.create(volume, name));
        return CreateSnapshotResponse.newBuilder()
                .setSnapshot(ProtoMessages.snapshot(taken))
                .build();
    }

    private SealedSnapshots sealing() {
        return sealed.orElseThrow(() -> new DriverException.InvalidRequest("parameter kind: dataset needs Jobs of"
                + " Kubernetes (--kubernetes-namespace); without Kubernetes, use `siphon dataset seal`"));
    }

    DeleteSnapshotResponse delete(DeleteSnapshotRequest request) {
        Optional<SnapshotId> id = ids.snapshotToRemove("snapshot_id", request.getSnapshotId());
        RequestFields.secrets(request.getSecretsMap());
        id.ifPresent(this::delete);
        return DeleteSnapshotResponse.getDefaultInstance();
    }

    private void delete(SnapshotId id) {
        if (DatasetPlace.isOf(id)) {
            sealing().delete(id);
        } else {
            snapshots.delete(id);
        }
    }

    GetSnapshotResponse get(GetSnapshotRequest request) {
        SnapshotId id = ids.snapshot("snapshot_id", request.getSnapshotId());
        RequestFields.secrets(request.getSecretsMap());
        return GetSnapshotResponse.newBuilder()
                .setSnapshot(ProtoMessages.snapshot(snapshots
                        .find(id)
                        .orElseThrow(() -> new DriverException.NotFound("snapshot_id " + id + " does not exist"))))
                .build();
    }

    ListSnapshotsResponse list(ListSnapshotsRequest request) {
        RequestFields.secrets(request.getSecretsMap());
        VolumeListing.Page<SnapshotView> page = page(request);
        return ListSnapshotsResponse.newBuilder()
                .addAllEntries(page.entries().stream()
                        .map(each -> ListSnapshotsResponse.Entry.newBuilder()
                                .setSnapshot(ProtoMessages.snapshot(each))
                                .build())
                        .toList())
                .setNextToken(page.next())
                .build();
    }

    private VolumeListing.Page<SnapshotView> page(ListSnapshotsRequest request) {
        VolumeListing.checkSnapshotPage(request.getMaxEntries(), request.getStartingToken());
        Optional<VolumeId> source = Optional.empty();
        if (!request.getSourceVolumeId().isEmpty()) {
            source = ids.volumeFilter("source_volume_id", request.getSourceVolumeId());
            if (source.isEmpty()) {
                return VolumeListing.Page.empty();
            }
        }
        if (!request.getSnapshotId().isEmpty()) {
            Optional<VolumeId> of = source;
            List<SnapshotView> found = ids
                    .snapshotFilter("snapshot_id", request.getSnapshotId())
                    .filter(id -> of.isEmpty() || of.get().equals(id.volume()))
                    .flatMap(snapshots::find)
                    .stream()
                    .toList();
            return new VolumeListing.Page<>(found, "");
        }
        return volumeListing.snapshots(request.getMaxEntries(), request.getStartingToken(), source);
    }
}

package dev.siphon.controller.rpc;

import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateSnapshotResponse;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.DeleteSnapshotResponse;
import csi.v1.GetSnapshotRequest;
import csi.v1.GetSnapshotResponse;
import csi.v1.ListSnapshotsRequest;
import csi.v1.ListSnapshotsResponse;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.Listings;
import dev.siphon.controller.volume.SnapshotView;
import dev.siphon.controller.volume.Snapshots;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Optional;

/// The RPCs about snapshots.
final class SnapshotHandler {
    private final Snapshots snapshots;
    private final Listings listings;
    private final Ids ids;

    SnapshotHandler(Snapshots snapshots, Listings listings, Ids ids) {
        this.snapshots = snapshots;
        this.listings = listings;
        this.ids = ids;
    }

    CreateSnapshotResponse create(CreateSnapshotRequest request) {
        String name = Fields.name("name", request.getName());
        String source = Fields.id("source_volume_id", request.getSourceVolumeId());
        Fields.secrets(request.getSecretsMap());
        ClassParameters.checkSnapshot(Fields.map("parameters", request.getParametersMap()));
        Fields.noTopology("accessibility_requirements", request.getAccessibilityRequirements());
        return CreateSnapshotResponse.newBuilder()
                .setSnapshot(Messages.snapshot(snapshots.create(ids.volume("source_volume_id", source), name)))
                .build();
    }

    DeleteSnapshotResponse delete(DeleteSnapshotRequest request) {
        Optional<SnapshotId> id = ids.snapshotToRemove("snapshot_id", request.getSnapshotId());
        Fields.secrets(request.getSecretsMap());
        id.ifPresent(snapshots::delete);
        return DeleteSnapshotResponse.getDefaultInstance();
    }

    GetSnapshotResponse get(GetSnapshotRequest request) {
        SnapshotId id = ids.snapshot("snapshot_id", request.getSnapshotId());
        Fields.secrets(request.getSecretsMap());
        return GetSnapshotResponse.newBuilder()
                .setSnapshot(Messages.snapshot(snapshots
                        .find(id)
                        .orElseThrow(() -> new DriverException.NotFound("snapshot_id " + id + " does not exist"))))
                .build();
    }

    ListSnapshotsResponse list(ListSnapshotsRequest request) {
        Fields.secrets(request.getSecretsMap());
        Listings.Page<SnapshotView> page = page(request);
        return ListSnapshotsResponse.newBuilder()
                .addAllEntries(page.entries().stream()
                        .map(each -> ListSnapshotsResponse.Entry.newBuilder()
                                .setSnapshot(Messages.snapshot(each))
                                .build())
                        .toList())
                .setNextToken(page.next())
                .build();
    }

    private Listings.Page<SnapshotView> page(ListSnapshotsRequest request) {
        Listings.checkSnapshotPage(request.getMaxEntries(), request.getStartingToken());
        Optional<VolumeId> source = Optional.empty();
        if (!request.getSourceVolumeId().isEmpty()) {
            source = ids.volumeFilter("source_volume_id", request.getSourceVolumeId());
            if (source.isEmpty()) {
                return Listings.Page.empty();
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
            return new Listings.Page<>(found, "");
        }
        return listings.snapshots(request.getMaxEntries(), request.getStartingToken(), source);
    }
}

package dev.siphon.controller.volume;

import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.Optional;
import java.util.OptionalLong;

/// A read-only volume that shows a dataset. The class or the claim names it, or the source is a
/// snapshot that became one. It stores nothing in Ceph.
final class DatasetKind implements VolumeKind<VolumeId.DatasetVolume> {
    private final FileTree files;
    private final ClaimedDatasets datasets;
    private final SnapshotDatasets snapshots;

    DatasetKind(FileTree files, ClaimedDatasets datasets, SnapshotDatasets snapshots) {
        this.files = files;
        this.datasets = datasets;
        this.snapshots = snapshots;
    }

    /// Creates the volume of a request that means a dataset; empty if it means none.
    ///
    /// @throws DriverException as [ClaimedDatasets#wanted], [SnapshotDatasets#shownBy] and
    ///     [ClaimedDatasets#show]
    Optional<Volume> create(VolumeRequest request) {
        return datasets.wanted(request)
                .map(name -> datasets.show(request, name))
                .or(() -> snapshots.shownBy(request).map(name -> {
                    Volume shown = datasets.show(request.withoutSource(), name);
                    return new Volume(shown.id(), shown.capacityBytes(), shown.context(), request.source());
                }));
    }

    @Override
    public Volume get(VolumeId.DatasetVolume id) {
        return StaticKind.shown(files, id);
    }

    @Override
    public void delete(VolumeId.DatasetVolume id, String home) {
        if (id.claim().isEmpty()) {
            throw StaticKind.undeletable(id);
        }
        datasets.remove(id);
    }

    @Override
    public long expand(VolumeId.DatasetVolume id, CapacityRange range) {
        throw new DriverException.InUse("dataset " + id + " cannot grow");
    }

    @Override
    public void modify(VolumeId.DatasetVolume id, MutableParameters changes) {
        OptionalLong _ = StaticKind.quotaBytes(files, id);
        throw new DriverException.InvalidRequest(
                "mutable_parameters: volume " + id + " is a sealed dataset, which nothing can change");
    }

    @Override
    public VolumeId.Provisioned snapshottable(String field, VolumeId.DatasetVolume id) {
        throw StaticKind.unsnapshottable(field, id);
    }

    @Override
    public void checkMode(VolumeId.DatasetVolume id, ClaimAccessMode mode) {
        if (!mode.readOnly()) {
            throw new DriverException.InvalidRequest(
                    "volume_capabilities: " + mode + " writes, but volume " + id + " is a dataset");
        }
    }
}

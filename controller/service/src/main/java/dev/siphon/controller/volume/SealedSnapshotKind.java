package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Volumes.Volume;
import java.util.Optional;

/// A read-only volume from a snapshot that became a dataset. Once created, it is a volume of that
/// dataset like any other.
final class SealedSnapshotKind extends DatasetKind {
    private final ClaimedDatasets datasets;
    private final SnapshotDatasets snapshots;

    SealedSnapshotKind(FileTree files, ClaimedDatasets datasets, SnapshotDatasets snapshots) {
        super(files, datasets);
        this.datasets = datasets;
        this.snapshots = snapshots;
    }

    /// Creates the volume of a request whose source is a dataset; empty if it is not.
    ///
    /// @throws dev.siphon.csi.DriverException as [SnapshotDatasets#shownBy] and [ClaimedDatasets#show]
    @Override
    Optional<Volume> create(VolumeRequest request) {
        return snapshots.shownBy(request).map(name -> {
            Volume shown = datasets.show(request.withoutSource(), name);
            return new Volume(shown.id(), shown.capacityBytes(), shown.context(), request.source());
        });
    }
}

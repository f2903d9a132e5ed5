package dev.siphon.controller.volume;

import java.util.Optional;

/// Port: snapshots that became datasets.
@FunctionalInterface
public interface SnapshotDatasets {
    /// No snapshot is a dataset: nothing can seal one.
    SnapshotDatasets NONE = _ -> Optional.empty();

    /// Returns the dataset that a request shows by its source; empty if the source is not a sealed
    /// snapshot, or the volume is writable, a copy or a home.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound (NOT_FOUND) if the snapshot does not exist
    /// @throws dev.siphon.csi.DriverException.OperationPending (ABORTED) if it is not sealed yet; the
    ///     message has the progress
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if somebody deleted its
    ///     Dataset
    Optional<String> shownBy(VolumeRequest request);
}

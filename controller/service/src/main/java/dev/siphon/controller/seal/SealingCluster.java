package dev.siphon.controller.seal;

import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.csi.dataset.Dataset;
import java.util.Optional;

/// Port: runs packers and the checks of images, and declares their datasets. All methods are idempotent.
///
/// All of them throw [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if the cluster does not
/// answer, and [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver lacks the
/// permission.
public interface SealingCluster {
    /// Returns the state of a packer or a check; empty if there is none.
    Optional<PackerOutcome> find(String name);

    /// Starts a packer or a check in a process of its own. Keeps one that exists.
    ///
    /// It may have to wait for others, or for what it needs: call this again until [#find] finds the process.
    ///
    /// @return the state
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if it is not configured how packers run,
    ///     or an object that this one needs exists and belongs to somebody else
    PackerOutcome begin(SealOrder order);

    /// Stops a packer or a check, and removes it and what it needed.
    ///
    /// @return false while it may still run
    boolean clear(String name);

    /// Declares a dataset.
    ///
    /// @throws dev.siphon.csi.DriverException.IncompatibleExisting (ALREADY_EXISTS) if another one has that name
    void declare(Dataset dataset);

    /// The records of the checks of declared datasets.
    ReadBacks readBacks();

    /// Deletes the declaration of a dataset. Keeps one of that name that is in another directory.
    void withdraw(String name, String path);

    /// Reports progress on the object that requested the dataset. Ignores failures.
    void report(SnapshotRequest object, Notice notice);

    /// A message for the user.
    ///
    /// @param warning whether somebody has to act
    record Notice(boolean warning, String reason, String message) {}
}

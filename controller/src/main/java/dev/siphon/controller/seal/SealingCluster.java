package dev.siphon.controller.seal;

import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.csi.dataset.Dataset;
import java.util.Optional;

/// Port: where packers run and images are read back, and where the datasets are declared that they make. Repeating
/// anything is safe.
///
/// All of it throws [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if there is no answer, and
/// [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver may not do it.
public interface SealingCluster {
    /// What has become of a packer, or of who reads an image back; empty if there is none.
    Optional<PackerOutcome> find(String name);

    /// Has a packer begin, or who reads its image back, in a process of its own. One that is there is left alone.
    ///
    /// It may wait for others, or for what it needs: it is to be called again until [#find] finds the packer.
    ///
    /// @return how far it is
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if nobody has said how packers are
    ///     run, or if what this one needs is there already and is somebody else's
    PackerOutcome begin(SealOrder order);

    /// Stops a packer, and removes it and what it needed.
    ///
    /// @return false while it may still write
    boolean clear(String name);

    /// Declares a dataset.
    ///
    /// @throws dev.siphon.csi.DriverException.IncompatibleExisting (ALREADY_EXISTS) if another one has that name
    void declare(Dataset dataset);

    /// Whether the images of those that are declared were read back.
    ReadBacks readBacks();

    /// Takes back what was declared; a dataset of that name in another directory stays.
    void withdraw(String name, String path);

    /// Tells whoever asked for a dataset how far it is, where they look. What cannot be told is no error.
    void report(SnapshotRequest object, Notice notice);

    /// What to tell.
    ///
    /// @param warning whether somebody has to do something
    record Notice(boolean warning, String reason, String message) {}
}

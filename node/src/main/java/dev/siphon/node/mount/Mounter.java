package dev.siphon.node.mount;

import java.nio.file.Path;
import java.time.Duration;

/// A client of CephFS. An implementation keeps no state: what it mounted it must recognize in the mount table of
/// another run.
public interface Mounter extends MountKind {
    /// Its name in a StorageClass.
    String name();

    /// Mounts at the empty directory `mountPoint`, and returns when files can be reached there. If it fails,
    /// nothing is mounted and no process is left. The key is in no argument, environment, log or message, and
    /// afterwards in no file.
    ///
    /// @param limit how long it may take; what the kernel does cannot be cut short, and may take longer
    /// @throws dev.siphon.csi.DriverException.AccessDenied (PERMISSION_DENIED) if the cluster refuses the
    ///     credentials, or they do not reach the directory
    /// @throws dev.siphon.csi.DriverException.NotFound (NOT_FOUND) if the file system or the directory does not
    ///     exist
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if the cluster does not answer, or
    ///     for a file system that does not exist, where the client cannot tell it from one without an MDS
    /// @throws dev.siphon.csi.DriverException.InvalidRequest (INVALID_ARGUMENT) for an option that this client
    ///     has not
    void mount(ClientMount mount, Path mountPoint, Duration limit);

    /// Whether the client works only as long as it is mounted at the `mountPoint` that [#mount] was given.
    boolean needsItsRoot();
}

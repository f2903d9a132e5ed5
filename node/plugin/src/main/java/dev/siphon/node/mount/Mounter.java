package dev.siphon.node.mount;

import java.nio.file.Path;
import java.time.Duration;

/// A client of CephFS. Implementations are stateless: they must recognize their mounts in the mount table after a
/// restart.
public interface Mounter extends MountKind {
    /// Returns its name in a StorageClass.
    String name();

    /// Mounts at the empty directory `mountPoint`, and returns when its files are reachable. A failure leaves no
    /// mount and no process. The key never appears in an argument, environment, log or message, and is in no file
    /// afterwards.
    ///
    /// @param limit the time it may take; the kernel's part cannot be cancelled and may take longer
    /// @throws dev.siphon.csi.DriverException.AccessDenied (PERMISSION_DENIED) if the cluster rejects the
    ///     credentials, or they do not allow the directory
    /// @throws dev.siphon.csi.DriverException.NotFound (NOT_FOUND) if the file system or the directory does not
    ///     exist
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if the cluster does not respond, or
    ///     if the file system does not exist and the client cannot tell that from a missing MDS
    /// @throws dev.siphon.csi.DriverException.InvalidRequest (INVALID_ARGUMENT) if the client does not support an
    ///     option
    void mount(ClientMount mount, Path mountPoint, Duration limit);

    /// Whether the client works only while it is mounted at the `mountPoint` that [#mount] received.
    boolean needsItsRoot();
}

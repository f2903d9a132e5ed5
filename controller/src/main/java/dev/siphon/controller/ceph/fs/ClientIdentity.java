package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.rados.ClusterAccess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Who this controller is to the MDS daemons. It is the same after a restart, and of all that may lead in turn, so that
/// a controller which was killed has its sessions ended by the one that follows, not by a timeout of a minute: until
/// then nobody can take what they hold, and what is made and removed in their directories waits.
///
/// @param name of the controller; no two that run at once may have the same
public record ClientIdentity(String name) {
    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

    /// The controller of `driver` that serves on `socket` of this host.
    public static ClientIdentity of(String driver, Path socket) {
        try {
            return new ClientIdentity(
                    String.join(" ", driver, Files.readString(HOST_NAME).strip(), socket.toString()));
        } catch (IOException e) {
            throw new UncheckedIOException("the host's name cannot be read", e);
        }
    }

    /// Whoever leads `driver` by a Lease.
    ///
    /// @param lease what tells it from all other Leases, also from those of other clusters of Kubernetes
    public static ClientIdentity ofLease(String driver, String lease) {
        return new ClientIdentity(String.join(" ", driver, "lease", lease));
    }

    /// The `uuid` of a session (`ceph_set_uuid`), any text.
    ///
    /// @param use which of this controller's clients it is; one at a time
    String session(ClusterAccess access, String use) {
        return String.join(" ", name, access.cluster(), use);
    }
}

package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.rados.ClusterAccess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Who this controller is to the MDS daemons. It is the same after a restart, so that a controller which was killed
/// has its sessions ended by the one that follows, not by a timeout of a minute: until then nobody can take what they
/// hold, and the removal of a snapshot waits.
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

    /// The `uuid` of a session (`ceph_set_uuid`), any text.
    ///
    /// @param use which of this controller's clients it is; one at a time
    String session(ClusterAccess access, String use) {
        return String.join(" ", name, access.cluster(), use);
    }
}

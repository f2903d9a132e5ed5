package dev.siphon.controller.offboard;

import java.io.IOException;
import java.io.OutputStream;

/// Port: archives a directory of a file system as tar.
@FunctionalInterface
public interface Archiver {
    /// Writes the tree below a directory: contents, modes, numeric owners, times in seconds, `user.` attributes,
    /// symlinks, hard links, FIFOs. Skips sockets and devices. Has no deadline.
    ///
    /// @param path of a directory in a snapshot, which cannot change meanwhile
    /// @param out is closed at the end
    /// @throws IOException if `out` fails
    /// @throws dev.siphon.csi.DriverException if Ceph fails
    Archived archive(String cluster, String fileSystem, String path, OutputStream out) throws IOException;

    /// Counts of what was written.
    ///
    /// @param entries files, directories and links
    /// @param bytes of contents
    /// @param leftOut sockets and devices
    record Archived(long entries, long bytes, long leftOut) {}
}

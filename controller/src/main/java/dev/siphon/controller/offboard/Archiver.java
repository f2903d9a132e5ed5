package dev.siphon.controller.offboard;

import java.io.IOException;
import java.io.OutputStream;

/// Port: reads a directory of a file system into a tar archive.
@FunctionalInterface
public interface Archiver {
    /// Writes the tree below a directory: contents, modes, owners by number, times in seconds, `user.` attributes,
    /// symlinks, hard links, FIFOs; sockets and devices are left out. Takes as long as it takes.
    ///
    /// @param path of a directory in a snapshot, which nobody changes meanwhile
    /// @param out is closed at the end
    /// @throws IOException if `out` fails
    /// @throws dev.siphon.csi.DriverException if Ceph does
    Archived archive(String cluster, String fileSystem, String path, OutputStream out) throws IOException;

    /// What was written.
    ///
    /// @param entries files, directories and links
    /// @param bytes of contents
    /// @param leftOut sockets and devices
    record Archived(long entries, long bytes, long leftOut) {}
}

package dev.siphon.node.image;

import java.lang.foreign.MemorySegment;

/// Reads the contents of files.
interface FileData {
    /// Fills `target` with the contents of `file` from `offset` on.
    ///
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if the file changed since the tree was
    ///     walked
    void read(ImageInode.RegularFile file, long offset, MemorySegment target);
}

package dev.siphon.node.image;

import java.lang.foreign.MemorySegment;

/// Where the contents of files come from.
interface FileData {
    /// Fills `target` with what `file` has from `offset` on.
    ///
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if it is not the file that was seen
    void read(ImageInode.RegularFile file, long offset, MemorySegment target);
}

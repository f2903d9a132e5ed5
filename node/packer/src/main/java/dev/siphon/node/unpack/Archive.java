package dev.siphon.node.unpack;

import java.io.IOException;

/// A file that has a tree in it. Can be read several times.
interface Archive {
    /// Passes all members to `sink`, in the order of the archive.
    ///
    /// @throws dev.siphon.node.fetch.FetchFailure UnsafeArchive for a member that leads out of the tree, or is more
    ///     than a file; Malformed
    /// @throws IOException if the archive is damaged
    void read(TreeSink sink) throws IOException;
}

package dev.siphon.node.image;

import dev.siphon.node.fetch.FetchListener;

/// Hears how far an import is.
public interface ImportListener extends PackListener, FetchListener {
    /// So much of a tar has been read, to be checked or unpacked.
    ///
    /// @param done in bytes
    /// @param all in bytes
    void read(long done, long all);
}

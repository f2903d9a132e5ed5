package dev.siphon.node.image;

import dev.siphon.node.fetch.FetchListener;

/// Receives the progress of an import.
public interface ImportListener extends PackListener, FetchListener {
    /// Reports how much of a tar has been read, to verify or unpack it.
    ///
    /// @param done in bytes
    /// @param all in bytes
    void read(long done, long all);
}

package dev.siphon.node.fetch;

/// Receives the progress of a download.
public interface FetchListener {
    /// @param done in bytes
    /// @param all in bytes, or -1 if the server does not report it
    void downloaded(long done, long all);
}

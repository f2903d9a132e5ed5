package dev.siphon.node.fetch;

/// Hears how far a download is.
public interface FetchListener {
    /// @param done in bytes
    /// @param all in bytes, or -1 if the server does not say
    void downloaded(long done, long all);
}

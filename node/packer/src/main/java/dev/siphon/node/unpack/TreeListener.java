package dev.siphon.node.unpack;

/// Receives the progress of a fetch, from several threads.
public interface TreeListener {
    /// A step begins; the counts start again.
    ///
    /// @param name downloading, checking, unpacking or copying
    /// @param totalBytes of the step; -1 if that is unknown
    void begin(String name, long totalBytes);

    /// Reports how far a download is.
    ///
    /// @param bytes since the step's begin, of this and earlier runs
    /// @param totalBytes or -1
    void downloaded(long bytes, long totalBytes);

    /// Reports what was written since the last call.
    ///
    /// @param files files, directories and links
    void wrote(long bytes, long files);
}

package dev.siphon.node.fetch;

import java.nio.ByteBuffer;

/// Stores a download, across restarts of the process.
public interface DownloadDirectory {
    /// Returns the size of the stored data in bytes.
    long length();

    /// Returns the server's validator of the stored version; empty if it cannot be resumed.
    String validator();

    /// Discards the data, and starts the version `validator`.
    void begin(String validator);

    /// Fails if there is no room for `bytes` more.
    ///
    /// @throws dev.siphon.csi.DriverException.QuotaExhausted (RESOURCE_EXHAUSTED)
    void makeSureOfRoom(long bytes);

    /// Appends all remaining `bytes`.
    void append(ByteBuffer bytes);

    /// Reads stored data from `offset` on into `target`.
    ///
    /// @return the number of bytes; negative at the end
    int read(long offset, ByteBuffer target);

    /// Flushes everything to disk.
    void flush();
}

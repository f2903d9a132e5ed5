package dev.siphon.node.fetch;

import java.nio.ByteBuffer;

/// Where what is fetched is kept, over the life of the process that fetches.
public interface DownloadDirectory {
    /// How much is there, in bytes.
    long length();

    /// By what the server tells the version apart that is there; empty if it cannot be gone on with.
    String validator();

    /// Throws away what is there; what is added from now on is of the version `validator`.
    void begin(String validator);

    /// Fails if there is no room for `bytes` more.
    ///
    /// @throws dev.siphon.csi.DriverException.QuotaExhausted (RESOURCE_EXHAUSTED)
    void makeSureOfRoom(long bytes);

    /// Adds what remains in `bytes`, of which none remains then.
    void append(ByteBuffer bytes);

    /// Reads into `target` what there is from `offset` on.
    ///
    /// @return how much it was, in bytes; negative at the end
    int read(long offset, ByteBuffer target);

    /// Puts all on disk.
    void flush();
}

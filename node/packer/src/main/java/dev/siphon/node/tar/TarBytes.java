package dev.siphon.node.tar;

/// Random access to the bytes of an uncompressed tar.
public interface TarBytes {
    /// Returns the number of bytes.
    long size();

    /// Fills the first `length` bytes of `target` from `offset` on. The caller stays within the size.
    void read(long offset, byte[] target, int length);
}

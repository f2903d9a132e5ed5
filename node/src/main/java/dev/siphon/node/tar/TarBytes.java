package dev.siphon.node.tar;

/// The bytes of a tar that is not compressed, to be read at any place.
public interface TarBytes {
    /// How many there are.
    long size();

    /// Fills the first `length` bytes of `target` with those from `offset` on; there are as many.
    void read(long offset, byte[] target, int length);
}

package dev.siphon.node.tar;

/// A part of a file that the tar has the bytes of; what is in none is zeros.
///
/// @param offset where in the file, in bytes
/// @param length in bytes
/// @param at where in the tar, in bytes
public record TarExtent(long offset, long length, long at) {
    public long end() {
        return offset + length;
    }
}

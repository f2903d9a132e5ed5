package dev.siphon.node.tar;

/// A part of a file that the tar contains; all other parts are zeros.
///
/// @param offset in the file, in bytes
/// @param length in bytes
/// @param at offset in the tar, in bytes
public record TarExtent(long offset, long length, long at) {
    public long end() {
        return offset + length;
    }
}

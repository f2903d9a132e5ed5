package dev.siphon.node.image;

import java.nio.ByteBuffer;

/// A directory's data in an image: blocks with names. The names, `.` and `..` included, are sorted over all blocks,
/// because the kernel binary-searches for the block, and then for the name in it. A block starts with 12 bytes per
/// name (`struct erofs_dirent`: inode, offset of the name, type), followed by the names. Zeros fill the rest,
/// except that the last block ends with its last name.
final class DirectoryBlocks {
    private static final int ENTRY_BYTES = 12;

    private final ImageEntry[] entries;

    DirectoryBlocks(ImageInode.Folder folder) {
        entries = folder.entries();
    }

    /// Returns the length of the data in bytes.
    long size() {
        long size = 0;
        for (int first = 0; first < entries.length; ) {
            int end = blockEnd(first);
            size += end < entries.length ? ErofsFormat.BLOCK_BYTES : bytes(first, end);
            first = end;
        }
        return size;
    }

    /// Puts the blocks that lie wholly in `target` into it.
    ///
    /// @param at where the data starts, in bytes from the start of `target`; may be negative
    void put(ByteBuffer target, long at, ImageLayout layout) {
        long position = at;
        for (int first = 0; first < entries.length && position < target.limit(); ) {
            int end = blockEnd(first);
            if (position >= 0) {
                put(target, (int) position, first, end, layout);
            }
            position += ErofsFormat.BLOCK_BYTES;
            first = end;
        }
    }

    private void put(ByteBuffer target, int at, int first, int end, ImageLayout layout) {
        int name = (end - first) * ENTRY_BYTES;
        for (int i = first; i < end; i++) {
            int entry = at + (i - first) * ENTRY_BYTES;
            ImageInode inode = entries[i].inode();
            target.putLong(entry, layout.slot(inode))
                    .putShort(entry + 8, (short) name)
                    .put(entry + 10, ErofsFormat.entryType(inode));
            target.put(at + name, entries[i].name());
            name += entries[i].name().length;
        }
    }

    /// Returns the index after the last name in the block that starts with `first`.
    private int blockEnd(int first) {
        int used = 0;
        int end = first;
        while (end < entries.length && used + bytes(end, end + 1) <= ErofsFormat.BLOCK_BYTES) {
            used += bytes(end, end + 1);
            end++;
        }
        return end;
    }

    private int bytes(int first, int end) {
        int bytes = 0;
        for (int i = first; i < end; i++) {
            bytes += ENTRY_BYTES + entries[i].name().length;
        }
        return bytes;
    }
}

package dev.siphon.node.image;

import java.nio.ByteBuffer;

/// A directory's data in an image: blocks, each with some of its names. Names are sorted over all blocks,
/// `.` and `..` among them, since the kernel looks for a block, and then for a name in it, by halves. A
/// block begins with 12 bytes for each of its names (`struct erofs_dirent`: inode, offset of the name,
/// type) and has the names behind that; what is left is zeros, but the last block ends with its last name.
final class DirectoryBlocks {
    private static final int ENTRY_BYTES = 12;

    private final ImageEntry[] entries;

    DirectoryBlocks(ImageInode.Folder folder) {
        entries = folder.entries();
    }

    /// The length of the data in bytes.
    long size() {
        long size = 0;
        for (int first = 0; first < entries.length; ) {
            int end = blockEnd(first);
            size += end < entries.length ? ErofsFormat.BLOCK_BYTES : bytes(first, end);
            first = end;
        }
        return size;
    }

    /// Puts those blocks into `target` that are wholly in it.
    ///
    /// @param at where the data begin, in bytes from the beginning of `target`, which may be before it
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

    /// The first name that is not in the block of which `first` is the first.
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

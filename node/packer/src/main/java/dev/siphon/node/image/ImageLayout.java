package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The place of everything in an image, computed before any byte of it is made:
/// ```
/// block 0           the superblock
/// from block 1 on   inodes in tree order, each followed by its extended attributes and by its data if short
/// then              directories and symbolic links that are not inline
/// then              files that are not inline, in tree order, each at the start of a block
/// ```
final class ImageLayout {
    /// Data up to this length is behind its inode, so that at least two such inodes share a block. Then reading a
    /// small file's inode brings its data along. Longer data would waste more of the block than it saves.
    static final int INLINE_BYTES = ErofsFormat.BLOCK_BYTES / 2 - ErofsFormat.INODE_BYTES;

    /// 16 TiB: a block number has 32 bits, and all ones means "none".
    private static final long MAX_BLOCKS = 0xffff_ffffL;
    /// 64 GiB of inodes: slots are counted with an `int`.
    private static final long MAX_INODE_BYTES = (long) Integer.MAX_VALUE * ErofsFormat.SLOT_BYTES;

    private final ImageTree tree;
    private final int[] slots;
    private final int[] blocks;
    private final List<ImageInode> bodies = new ArrayList<>();
    private long end = ErofsFormat.BLOCK_BYTES;
    private final long inodesEnd;
    private final long metadataEnd;

    /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if it exceeds the limits of EROFS
    ImageLayout(ImageTree tree) {
        this.tree = tree;
        slots = new int[tree.inodes().size()];
        blocks = new int[tree.inodes().size()];
        tree.inodes().forEach(this::placeInode);
        inodesEnd = end;
        end = Math.ceilDiv(end, ErofsFormat.BLOCK_BYTES) * (long) ErofsFormat.BLOCK_BYTES;
        for (ImageInode inode : tree.inodes()) {
            if (!(inode instanceof ImageInode.RegularFile)) {
                placeBody(inode);
            }
        }
        metadataEnd = end;
        for (ImageInode inode : tree.inodes()) {
            if (inode instanceof ImageInode.RegularFile) {
                placeBody(inode);
            }
        }
    }

    private void placeInode(ImageInode inode) {
        int head = ErofsFormat.INODE_BYTES + inode.attributes().length;
        // neither an inode nor inline data crosses a block boundary
        if (room() < ErofsFormat.INODE_BYTES) {
            end += room();
        }
        if (inline(inode)) {
            long data = end + head;
            if (data % ErofsFormat.BLOCK_BYTES + dataBytes(inode) > ErofsFormat.BLOCK_BYTES) {
                end += room();
            }
            head += (int) dataBytes(inode);
        }
        if (end > MAX_INODE_BYTES) {
            throw new DriverException.CapacityOutOfRange("the inodes up to " + TreePath.quoted(inode)
                    + " take more than 64 GiB: split the source into several datasets");
        }
        slots[inode.number()] = (int) (end / ErofsFormat.SLOT_BYTES);
        end += Math.ceilDiv(head, ErofsFormat.SLOT_BYTES) * (long) ErofsFormat.SLOT_BYTES;
    }

    private long room() {
        return ErofsFormat.BLOCK_BYTES - end % ErofsFormat.BLOCK_BYTES;
    }

    private void placeBody(ImageInode inode) {
        long bytes = dataBytes(inode);
        if (bytes == 0 || inline(inode)) {
            return;
        }
        long first = end / ErofsFormat.BLOCK_BYTES;
        if (first + Math.ceilDiv(bytes, ErofsFormat.BLOCK_BYTES) > MAX_BLOCKS) {
            throw new DriverException.CapacityOutOfRange("with " + TreePath.quoted(inode)
                    + " the image would be larger than 16 TiB: split the source into several datasets");
        }
        blocks[inode.number()] = (int) first;
        bodies.add(inode);
        end += Math.ceilDiv(bytes, ErofsFormat.BLOCK_BYTES) * ErofsFormat.BLOCK_BYTES;
    }

    /// Returns the length of an inode's data in bytes.
    static long dataBytes(ImageInode inode) {
        return switch (inode) {
            case ImageInode.Folder folder -> new DirectoryBlocks(folder).size();
            case ImageInode.RegularFile file -> file.status().size();
            case ImageInode.Symlink link -> link.target().length;
        };
    }

    /// Whether an inode's data is behind it in the same block.
    static boolean inline(ImageInode inode) {
        long bytes = dataBytes(inode);
        return bytes > 0
                && bytes <= INLINE_BYTES
                && ErofsFormat.INODE_BYTES + inode.attributes().length + bytes <= ErofsFormat.BLOCK_BYTES;
    }

    ImageTree tree() {
        return tree;
    }

    /// Returns an inode's number in EROFS (`nid`).
    int slot(ImageInode inode) {
        return slots[inode.number()];
    }

    /// Returns an inode's offset in the image in bytes.
    long inodeOffset(ImageInode inode) {
        return (long) slot(inode) * ErofsFormat.SLOT_BYTES;
    }

    /// Returns the first block of an inode's data, counted from the start of the image; 0 if it has no blocks of
    /// its own.
    int block(ImageInode inode) {
        return blocks[inode.number()];
    }

    /// Returns the same in bytes.
    long bodyOffset(ImageInode inode) {
        return Integer.toUnsignedLong(block(inode)) * ErofsFormat.BLOCK_BYTES;
    }

    /// Returns the end of the inodes in bytes.
    long inodesEnd() {
        return inodesEnd;
    }

    /// Returns the offset in bytes at which the blocks of files start.
    long metadataEnd() {
        return metadataEnd;
    }

    /// Returns the length of the image in bytes.
    long imageBytes() {
        return end;
    }

    /// Returns the index of the inode at `offset`, or of the last one before it; 0, the root, if there is none.
    int inodeAt(long offset) {
        int slot = (int) Math.min(Integer.MAX_VALUE, offset / ErofsFormat.SLOT_BYTES);
        int found = Arrays.binarySearch(slots, slot);
        return Math.max(0, found >= 0 ? found : -found - 2);
    }

    /// Returns the inodes that have blocks of their own, in the order of those blocks.
    List<ImageInode> bodies() {
        return bodies;
    }

    /// Returns the index in [#bodies] of the data at `offset`, or of the last one before it; 0 if there is none.
    int bodyAt(long offset) {
        int low = 0;
        int high = bodies.size();
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            if (bodyOffset(bodies.get(middle)) <= offset) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }
}

package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Where everything is in an image, known before a byte of it is made:
/// ```
/// block 0           the superblock
/// from block 1 on   inodes in the order of the tree, each with its extended attributes, and its data if they are short
/// then              directories and symbolic links that are not behind their inodes
/// then              files, each at the beginning of a block, in the order of the tree
/// ```
final class ImageLayout {
    /// Data up to this length are behind their inode, so that two such inodes share a block at least: looking
    /// at a small file then brings its data along. Longer ones would leave more of a block unused than they
    /// save.
    static final int INLINE_BYTES = ErofsFormat.BLOCK_BYTES / 2 - ErofsFormat.INODE_BYTES;

    /// 16 TiB: a block's number has 32 bits, of which all ones says "none".
    private static final long MAX_BLOCKS = 0xffff_ffffL;
    /// 64 GiB of inodes: as many as an `int` counts slots for.
    private static final long MAX_INODE_BYTES = (long) Integer.MAX_VALUE * ErofsFormat.SLOT_BYTES;

    private final ImageTree tree;
    private final int[] slots;
    private final int[] blocks;
    private final List<ImageInode> bodies = new ArrayList<>();
    private long end = ErofsFormat.BLOCK_BYTES;
    private final long inodesEnd;
    private final long metadataEnd;

    /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if it would be larger than EROFS can be
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
        // no inode lies across the end of a block, nor do data behind one
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
                    + " take more than 64 GiB: make several datasets of the source");
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
                    + " the image would be larger than 16 TiB: make several datasets of the source");
        }
        blocks[inode.number()] = (int) first;
        bodies.add(inode);
        end += Math.ceilDiv(bytes, ErofsFormat.BLOCK_BYTES) * ErofsFormat.BLOCK_BYTES;
    }

    /// The length of an inode's data in bytes.
    static long dataBytes(ImageInode inode) {
        return switch (inode) {
            case ImageInode.Folder folder -> new DirectoryBlocks(folder).size();
            case ImageInode.RegularFile file -> file.status().size();
            case ImageInode.Symlink link -> link.target().length;
        };
    }

    /// Whether an inode's data are behind it.
    static boolean inline(ImageInode inode) {
        long bytes = dataBytes(inode);
        return bytes > 0
                && bytes <= INLINE_BYTES
                && ErofsFormat.INODE_BYTES + inode.attributes().length + bytes <= ErofsFormat.BLOCK_BYTES;
    }

    ImageTree tree() {
        return tree;
    }

    /// The number that EROFS knows an inode by (`nid`).
    int slot(ImageInode inode) {
        return slots[inode.number()];
    }

    /// Where an inode is, in bytes from the beginning of the image.
    long inodeOffset(ImageInode inode) {
        return (long) slot(inode) * ErofsFormat.SLOT_BYTES;
    }

    /// Where an inode's data begin, if they are in blocks of their own, in blocks from the beginning of the
    /// image; 0 if they are not.
    int block(ImageInode inode) {
        return blocks[inode.number()];
    }

    /// The same in bytes.
    long bodyOffset(ImageInode inode) {
        return Integer.toUnsignedLong(block(inode)) * ErofsFormat.BLOCK_BYTES;
    }

    /// Where inodes end, in bytes.
    long inodesEnd() {
        return inodesEnd;
    }

    /// Where the files begin that are not behind their inodes, in bytes.
    long metadataEnd() {
        return metadataEnd;
    }

    /// The length of the image in bytes.
    long imageBytes() {
        return end;
    }

    /// The inode that is at `offset`, or the last one before it; the root if there is none.
    int inodeAt(long offset) {
        int slot = (int) Math.min(Integer.MAX_VALUE, offset / ErofsFormat.SLOT_BYTES);
        int found = Arrays.binarySearch(slots, slot);
        return Math.max(0, found >= 0 ? found : -found - 2);
    }

    /// Those inodes that have blocks of their own, in the order of those blocks.
    List<ImageInode> bodies() {
        return bodies;
    }

    /// The place in [#bodies] of what is at `offset`, or of the last one before it; 0 if there is none.
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

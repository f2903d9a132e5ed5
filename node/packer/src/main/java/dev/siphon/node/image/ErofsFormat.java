package dev.siphon.node.image;

import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32C;

/// The on-disk format of EROFS, by `fs/erofs/erofs_fs.h` of Linux: the part that Linux 5.10 mounts, without
/// incompatible features. Every inode has the extended form of 64 bytes, because the compact one has no time. Its
/// data is either wholly behind it in the same block (`EROFS_INODE_FLAT_INLINE`), or in blocks of its own
/// (`EROFS_INODE_FLAT_PLAIN`). All numbers are little-endian, as is every buffer passed to these methods.
final class ErofsFormat {
    static final int BLOCK_BYTES = 4096;
    static final int INODE_BYTES = 64;
    /// An inode's number (`nid`) is its position in units of this size.
    static final int SLOT_BYTES = 32;

    private static final int SUPERBLOCK_OFFSET = 1024;
    private static final int MAGIC = 0xe0f5e1e2;
    private static final int CHECKSUM_OFFSET = 4;
    /// `EROFS_FEATURE_COMPAT_SB_CHKSUM | EROFS_FEATURE_COMPAT_MTIME`
    private static final int COMPATIBLE_FEATURES = 1 | 2;

    private static final int BLOCK_BITS = 12;
    private static final int EXTENDED = 1;
    private static final int INLINE_LAYOUT = 2 << 1;
    private static final int S_IFDIR = 0x4000;
    private static final int S_IFREG = 0x8000;
    private static final int S_IFLNK = 0xa000;

    private ErofsFormat() {}

    /// The fields of the superblock.
    ///
    /// @param inodes the number of inodes
    /// @param blocks the image's length in blocks
    /// @param root the number of the root's inode
    record Superblock(long inodes, long blocks, int root, UUID uuid) {}

    /// Puts the superblock into `block`, the first of the image, which holds nothing else.
    static void put(Superblock superblock, ByteBuffer block) {
        int at = SUPERBLOCK_OFFSET;
        block.putInt(at, MAGIC)
                .putInt(at + 8, COMPATIBLE_FEATURES)
                .put(at + 12, (byte) BLOCK_BITS)
                .putShort(at + 14, (short) superblock.root())
                .putLong(at + 16, superblock.inodes())
                .putInt(at + 36, (int) superblock.blocks());
        for (int i = 0; i < Long.BYTES; i++) {
            block.put(at + 48 + i, bigEndian(superblock.uuid().getMostSignificantBits(), i));
            block.put(at + 56 + i, bigEndian(superblock.uuid().getLeastSignificantBits(), i));
        }
        CRC32C checksum = new CRC32C();
        checksum.update(block.duplicate().position(at).limit(BLOCK_BYTES));
        // Linux omits the algorithm's final inversion
        block.putInt(at + CHECKSUM_OFFSET, ~(int) checksum.getValue());
    }

    private static byte bigEndian(long bits, int octet) {
        return (byte) (bits >>> (Long.SIZE - Byte.SIZE * (octet + 1)));
    }

    /// Puts `inode` into `target` at `at`.
    ///
    /// @param size of its data in bytes
    /// @param block where the data starts, unless it is behind the inode
    static void put(
            ImageInode inode, ImageModes modes, long size, boolean inline, int block, ByteBuffer target, int at) {
        var status = inode.status();
        target.putShort(at, (short) (inline ? EXTENDED | INLINE_LAYOUT : EXTENDED))
                .putShort(at + 2, ExtendedAttributes.count(inode.attributes()))
                .putShort(at + 4, (short) (type(inode) | modes.permissions(status)))
                .putLong(at + 8, size)
                .putInt(at + 16, block)
                .putInt(at + 20, inode.number() + 1)
                .putInt(at + 24, modes.uid(status))
                .putInt(at + 28, modes.gid(status))
                .putLong(at + 32, status.modifiedSeconds())
                .putInt(at + 40, status.modifiedNanos())
                .putInt(at + 44, inode.links());
    }

    private static int type(ImageInode inode) {
        return switch (inode) {
            case ImageInode.Folder _ -> S_IFDIR;
            case ImageInode.RegularFile _ -> S_IFREG;
            case ImageInode.Symlink _ -> S_IFLNK;
        };
    }

    /// Returns the `file_type` of a name for `inode`.
    static byte entryType(ImageInode inode) {
        return switch (inode) {
            case ImageInode.RegularFile _ -> 1;
            case ImageInode.Folder _ -> 2;
            case ImageInode.Symlink _ -> 7;
        };
    }
}

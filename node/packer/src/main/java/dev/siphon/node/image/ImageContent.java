package dev.siphon.node.image;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

/// Produces the bytes of an image, range by range in any order.
final class ImageContent {
    private static final int FINGERPRINTED_AT_ONCE = 4096;
    private static final FileData NOTHING = (_, _, _) -> {};

    private final ImageLayout layout;
    private final ImageModes modes;
    private final Digest metadata;
    private final UUID uuid;

    ImageContent(ImageLayout layout, ImageModes modes) {
        this.layout = layout;
        this.modes = modes;
        metadata = digestOfMetadata();
        uuid = uuid(metadata);
    }

    ImageLayout layout() {
        return layout;
    }

    /// Identifies the image and its files: two packers with the same fingerprint can continue each other's work.
    /// Covers the image's metadata, and each file's inode number and ctime. It does not depend on where a snapshot
    /// is mounted.
    Digest fingerprint() {
        StringBuilder parts = new StringBuilder(metadata.hex());
        ByteBuffer part = ByteBuffer.allocate(FINGERPRINTED_AT_ONCE * 3 * Long.BYTES);
        for (ImageInode inode : layout.tree().inodes()) {
            part.putLong(inode.status().inode())
                    .putLong(inode.status().changedSeconds())
                    .putLong(inode.status().changedNanos());
            if (!part.hasRemaining()) {
                parts.append(Digest.of(part.flip()).hex());
                part.clear();
            }
        }
        parts.append(Digest.of(part.flip()).hex());
        return digest(parts);
    }

    /// Fills `block` with the first block, which has no contents of files.
    void fillFirst(MemorySegment block) {
        fill(0, block, NOTHING);
    }

    /// Fills `memory` with the image's bytes from `offset` on; both are whole blocks.
    void fill(long offset, MemorySegment memory, FileData files) {
        memory.fill((byte) 0);
        ImageRange range = new ImageRange(offset, memory, files);
        if (offset == 0) {
            ErofsFormat.put(superblock(), range.bytes());
        }
        inodes(range);
        bodies(range);
    }

    private void inodes(ImageRange range) {
        List<ImageInode> all = layout.tree().inodes();
        for (int i = layout.inodeAt(range.start()); i < all.size(); i++) {
            ImageInode inode = all.get(i);
            long at = layout.inodeOffset(inode);
            if (at >= range.end()) {
                return;
            }
            boolean inline = ImageLayout.inline(inode);
            if (at >= range.start()) {
                int block = layout.block(inode);
                long size = ImageLayout.dataBytes(inode);
                ErofsFormat.put(inode, modes, size, inline, block, range.bytes(), (int) (at - range.start()));
            }
            at += ErofsFormat.INODE_BYTES;
            range.put(at, inode.attributes());
            if (inline) {
                data(inode, at + inode.attributes().length, range);
            }
        }
    }

    private void bodies(ImageRange range) {
        List<ImageInode> all = layout.bodies();
        for (int i = layout.bodyAt(range.start()); i < all.size(); i++) {
            long at = layout.bodyOffset(all.get(i));
            if (at >= range.end()) {
                return;
            }
            data(all.get(i), at, range);
        }
    }

    private void data(ImageInode inode, long at, ImageRange range) {
        switch (inode) {
            case ImageInode.Folder folder -> new DirectoryBlocks(folder).put(range.bytes(), at - range.start(), layout);
            case ImageInode.Symlink link -> range.put(at, link.target());
            case ImageInode.RegularFile file -> range.read(at, file);
        }
    }

    private ErofsFormat.Superblock superblock() {
        List<ImageInode> inodes = layout.tree().inodes();
        long blocks = layout.imageBytes() / ErofsFormat.BLOCK_BYTES;
        return new ErofsFormat.Superblock(inodes.size(), blocks, layout.slot(inodes.getFirst()), uuid);
    }

    /// Returns the digest of everything but the superblock and the contents of files, and of the image's length.
    private Digest digestOfMetadata() {
        StringBuilder parts = new StringBuilder().append(layout.imageBytes());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(Manifest.CHUNK_BYTES, ErofsFormat.BLOCK_BYTES);
            for (long at = ErofsFormat.BLOCK_BYTES; at < layout.metadataEnd(); at += memory.byteSize()) {
                MemorySegment range = memory.asSlice(0, Math.min(memory.byteSize(), layout.metadataEnd() - at));
                fill(at, range, NOTHING);
                parts.append(Digest.of(range.asByteBuffer()).hex());
            }
        }
        return digest(parts);
    }

    private static Digest digest(StringBuilder text) {
        return Digest.of(ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.US_ASCII)));
    }

    /// Returns the start of the digest as a UUID of version 8, which allows arbitrary bits (RFC 9562).
    private static UUID uuid(Digest digest) {
        long most = Long.parseUnsignedLong(digest.hex(), 0, 16, 16);
        long least = Long.parseUnsignedLong(digest.hex(), 16, 32, 16);
        return new UUID((most & ~0xf000L) | 0x8000L, (least >>> 2) | (1L << 63));
    }
}

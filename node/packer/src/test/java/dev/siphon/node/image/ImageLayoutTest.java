package dev.siphon.node.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ImageLayoutTest {
    private final ImageInode.Folder root = Inodes.root();

    @Test
    void theRootIsTheFirstInode() {
        ImageLayout layout = Inodes.layout(root, List.of(Inodes.file(root, "a", 1)));
        assertEquals(4096 / 32, layout.slot(root));
    }

    @Test
    void shortFilesAreBehindTheirInodesAndEmptyOnesNowhere() {
        assertFalse(ImageLayout.inline(Inodes.file(root, "a", 0)));
        assertTrue(ImageLayout.inline(Inodes.file(root, "a", 1)));
        assertTrue(ImageLayout.inline(Inodes.file(root, "a", 1984)));
        assertFalse(ImageLayout.inline(Inodes.file(root, "a", 1985)));
        assertTrue(ImageLayout.inline(Inodes.file(root, "a", 1984, new byte[2048])));
        assertFalse(ImageLayout.inline(Inodes.file(root, "a", 1984, new byte[2052])));
    }

    @Test
    void neitherAnInodeNorDataBehindItLieAcrossBlocks() {
        List<ImageInode> files = new ArrayList<>();
        for (int size = 0; size < 5000; size += 7) {
            files.add(Inodes.file(root, "f" + size, size, new byte[size % 3 == 0 ? 0 : (size % 4093) & ~3]));
        }
        ImageLayout layout = Inodes.layout(root, files);
        long end = 4096;
        for (ImageInode inode : layout.tree().inodes()) {
            long at = layout.inodeOffset(inode);
            assertTrue(at >= end, "they do not overlap");
            assertEquals(at / 4096, (at + 63) / 4096, "an inode is in one block");
            end = at + 64 + inode.attributes().length;
            if (ImageLayout.inline(inode)) {
                long data = ImageLayout.dataBytes(inode);
                assertEquals(end / 4096, (end + data - 1) / 4096, "data are in one block");
                end += data;
            }
            assertEquals(inode.number(), layout.inodeAt(at));
            assertEquals(inode.number(), layout.inodeAt(at + 32));
        }
        assertTrue(layout.inodesEnd() >= end);
    }

    @Test
    void filesFollowEachOtherByName() {
        ImageLayout layout = Inodes.layout(
                root,
                List.of(Inodes.file(root, "c", 5000), Inodes.file(root, "a", 9000), Inodes.file(root, "b", 4096)));
        List<String> names = layout.bodies().stream()
                .map(inode -> new String(inode.name(), java.nio.charset.StandardCharsets.UTF_8))
                .toList();
        assertEquals(List.of("a", "b", "c"), names);
        assertEquals(layout.metadataEnd(), layout.bodyOffset(layout.bodies().get(0)));
        assertEquals(
                layout.metadataEnd() + 3 * 4096,
                layout.bodyOffset(layout.bodies().get(1)));
        assertEquals(
                layout.metadataEnd() + 4 * 4096,
                layout.bodyOffset(layout.bodies().get(2)));
        assertEquals(layout.metadataEnd() + 6 * 4096, layout.imageBytes());
        assertEquals(0, layout.bodyAt(0));
        assertEquals(0, layout.bodyAt(layout.metadataEnd() + 2 * 4096));
        assertEquals(2, layout.bodyAt(layout.imageBytes()));
    }

    @Test
    void whatIsLargerThanErofsIsRefusedByName() {
        var refused = assertThrows(
                DriverException.CapacityOutOfRange.class,
                () -> Inodes.layout(
                        root, List.of(Inodes.file(root, "first", 1L << 43), Inodes.file(root, "second", 1L << 43))));
        assertTrue(refused.getMessage().contains("\"second\""), refused.getMessage());
        ImageInode.Folder other = Inodes.root();
        long most = Inodes.layout(other, List.of(Inodes.file(other, "f", (1L << 44) - 3 * 4096)))
                .imageBytes();
        assertEquals((1L << 44) - 4096, most);
    }

    @Test
    void aFileWithTwoNamesIsThereOnce() {
        var status = new dev.siphon.node.linux.FileStatus(0x81a4, 3, 0, 0, 77, 1, 1, 5000, 0, 0, 0, 0);
        ImageInode one = new ImageInode.RegularFile(root, new byte[] {'a'}, status, ExtendedAttributes.NONE);
        ImageInode other = new ImageInode.RegularFile(root, new byte[] {'b'}, status, ExtendedAttributes.NONE);
        ImageLayout layout = Inodes.layout(root, List.of(other, one));
        assertEquals(List.of(root, one), layout.tree().inodes());
        assertEquals(2, one.links());
        assertEquals(1, layout.tree().files());
    }
}

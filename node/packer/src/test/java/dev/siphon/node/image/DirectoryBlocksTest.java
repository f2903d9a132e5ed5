package dev.siphon.node.image;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class DirectoryBlocksTest {
    private final ImageInode.Folder root = Inodes.root();

    /// Returns the names in a directory's data, parsed like `fs/erofs/dir.c`.
    private static List<String> names(ByteBuffer data, long size) {
        List<String> names = new ArrayList<>();
        for (int block = 0; block < size; block += 4096) {
            int end = (int) Math.min(4096, size - block);
            int count = data.getShort(block + 8) / 12;
            for (int i = 0; i < count; i++) {
                int from = data.getShort(block + i * 12 + 8);
                int to = i + 1 < count ? data.getShort(block + i * 12 + 20) : end;
                byte[] name = new byte[to - from];
                data.get(block + from, name);
                names.add(new String(name, StandardCharsets.ISO_8859_1).replaceAll("\0+$", ""));
            }
        }
        return names;
    }

    private ByteBuffer data(List<String> names) {
        ImageLayout layout = Inodes.layout(
                root, names.stream().map(name -> Inodes.file(root, name, 1)).toList());
        DirectoryBlocks blocks = new DirectoryBlocks(root);
        ByteBuffer data = ByteBuffer.allocate((int) Math.ceilDiv(blocks.size(), 4096) * 4096)
                .order(ByteOrder.LITTLE_ENDIAN);
        blocks.put(data, 0, layout);
        return data;
    }

    @Test
    void namesAreSortedByOctetsWithTheDotsAmongThem() {
        List<String> names = List.of("a", "Z", "-", "!", "~", "\u00e4", "..a", ".a");
        ByteBuffer data = data(names);
        assertEquals(
                List.of("!", "-", ".", "..", "..a", ".a", "Z", "a", "~", "\u00c3\u00a4"),
                names(data, new DirectoryBlocks(root).size()));
    }

    @Test
    void aBlockIsFilledToItsLastOctetAndNoFurther() {
        // "." and ".." take 27 bytes, each of these 267: 15 of them leave 64 bytes
        List<String> names = new ArrayList<>(
                IntStream.range(0, 15).mapToObj(i -> "a".repeat(253) + (10 + i)).toList());
        data(names);
        assertEquals(27 + 15 * 267, new DirectoryBlocks(root).size());
        names.add("b".repeat(52));
        assertEquals(names(data(names), 4096).size(), 18);
        assertEquals(4096, new DirectoryBlocks(root).size());
        names.set(15, "b".repeat(53));
        ByteBuffer data = data(names);
        assertEquals(4096 + 65, new DirectoryBlocks(root).size());
        assertEquals(names.get(15), names(data, 4096 + 65).getLast());
    }

    @Test
    void partsOfItAreTheSameAsTheWhole() {
        List<String> names = new ArrayList<>(IntStream.range(0, 2000)
                .mapToObj(i -> "name-" + i * 7919 % 2000)
                .toList());
        Collections.sort(names);
        ByteBuffer whole = data(names);
        ImageLayout layout = new ImageLayout(ImageTree.of(rebuilt(names)));
        for (int block = 0; block < whole.capacity(); block += 4096) {
            ByteBuffer part = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
            new DirectoryBlocks((ImageInode.Folder) layout.tree().inodes().getFirst()).put(part, -block, layout);
            assertEquals(whole.slice(block, 4096), part);
        }
    }

    private static ImageInode.Folder rebuilt(List<String> names) {
        ImageInode.Folder root = Inodes.root();
        root.fill(names.stream().map(name -> Inodes.file(root, name, 1)).toList());
        return root;
    }
}

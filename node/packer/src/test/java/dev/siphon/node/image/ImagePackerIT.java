package dev.siphon.node.image;

import static dev.siphon.node.image.TreeScript.hex;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.linux.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Images mounted by this machine's kernel.
final class ImagePackerIT {
    private static final long OVER_4_GIB = (4L << 30) + 1234;
    private static final String YEAR_1960 = "-300000000123456789";
    private static final String YEAR_2100 = "4102444800987654321";

    private final Packing packing = new Packing();

    @AfterEach
    void close() {
        packing.close();
    }

    /// Returns a tree with everything that a tree can contain.
    private static TreeScript everything() {
        TreeScript tree = new TreeScript()
                .with("dir", hex("a"))
                .with("dir", hex("a/b"))
                .with("dir", hex("a/b/c"))
                .with("dir", hex("empty"));
        // both sides of each limit: inline data, a block, and a chunk
        for (int size : new int[] {0, 1, 1983, 1984, 1985, 4095, 4096, 4097, 110_000, 4 << 20, 9_000_001}) {
            tree.with("file", hex("a/of-" + size), Integer.toString(size), "s" + size);
        }
        tree.with("file", hex("a/first"), "5000", "first")
                .with("link", hex("a/b/c/third"), hex("a/first"))
                .with("link", hex("Second"), hex("a/first"))
                .with("symlink", hex("link"), hex("a/of-1"))
                .with("link", hex("a/link-again"), hex("link"))
                .with("symlink", hex("dangling"), hex(new byte[] {(byte) 0xff, '/', 1}))
                .with("symlink", hex("long"), hex("x".repeat(4095)))
                .with("symlink", hex("inline"), hex("y".repeat(1984)))
                .with("symlink", hex("not-inline"), hex("z".repeat(1985)))
                .with("file", hex(new byte[] {'r', (byte) 0xff, (byte) 0x80, '\n', ' '}), "10", "raw")
                .with("file", hex("n".repeat(255)), "10", "name")
                .with("file", hex("!before-dots"), "1", "b")
                .with("fifo", hex("a/fifo"));
        for (String path : List.of("a", "a/of-1", "a/of-1985", "a/of-110000")) {
            tree.with("attribute", hex(path), hex("user.k"), hex("v of " + path));
        }
        tree.with("attribute", hex("a/of-4095"), hex("user.long"), hex("l".repeat(3900)))
                .with("attribute", hex("a/of-1983"), hex("user.a-long"), hex("l".repeat(3000)))
                .with("attribute", hex("a/of-1983"), hex("user.empty"), "")
                .with("attribute", hex("a/of-1"), hex("trusted.no"), hex("no"))
                .with("attribute", hex("a/of-1"), hex("security.no"), hex("no"))
                // user::rw-, user:7:r--, group::r--, mask::r--, other::---
                .with("attribute", hex("a/of-4096"), hex("system.posix_acl_access"), acl());
        return tree.with("status", hex("a/of-4097"), "4751", "70000", "80000", YEAR_2100)
                .with("status", hex("a/of-4096"), "640", "1", "2", "1")
                .with("status", hex("link"), "777", "10", "11", YEAR_1960)
                .with("status", hex("a/b/c"), "3750", "10", "4294967294", "0")
                .with("status", hex("a/b"), "700", "0", "0", YEAR_1960);
    }

    private static String acl() {
        return "02000000" + "01000600ffffffff" + "0200040007000000" + "04000400ffffffff" + "10000400ffffffff"
                + "20000000ffffffff";
    }

    @Test
    void theKernelShowsWhatWasPacked() {
        everything().build(packing.source());
        for (ImageModes modes : ImageModes.values()) {
            Manifest manifest = packing.pack(modes.name(), modes, 3);
            assertEquals(15, manifest.files());
            packing.assertSame(modes.name(), modes);
        }
    }

    @Test
    void directoriesOfManyBlocksAreFoundInAndListed() {
        TreeScript tree = new TreeScript();
        List<String> names = IntStream.range(0, 20_000)
                .mapToObj(i -> Integer.toString(i * 7919 % 20_000, 36) + "-".repeat(i % 60))
                .toList();
        names.forEach(name -> tree.with("file", hex(name), Integer.toString(name.length() % 5), name));
        tree.build(packing.source());
        packing.pack("image", ImageModes.READABLE, 8);
        packing.assertSame("image", ImageModes.READABLE);
    }

    @Test
    void aFileOver4GibIsWhole() throws IOException {
        new TreeScript()
                .with("sparse", hex("large"), Long.toString(OVER_4_GIB))
                .with("file", hex("later"), "5000", "later")
                .build(packing.source());
        new ImagePacker(Packing.listener(() -> {}))
                .pack(new PackRequest(packing.source(), packing.path("image"), ImageModes.READABLE, 2));
        packing.assertSame("image", ImageModes.READABLE);
    }

    @Test
    void theSameFilesGiveTheSameBytes() throws IOException {
        everything().build(packing.source());
        Manifest first = packing.pack("first", ImageModes.PRESERVED, 1);
        assertEquals(first, packing.pack("second", ImageModes.PRESERVED, 7));
        assertEquals(-1, Files.mismatch(packing.path("first"), packing.path("second")));
        // a copy has another directory order, other inodes and another path
        Path copy = packing.path("copy");
        Programs.run("cp", "-a", packing.source().toString(), copy.toString());
        new ImagePacker(Packing.listener(() -> {}))
                .pack(new PackRequest(copy, packing.path("third"), ImageModes.PRESERVED, 2));
        assertEquals(-1, Files.mismatch(packing.path("first"), packing.path("third")));
        assertNotEquals(
                first.root(), packing.pack("readable", ImageModes.READABLE, 2).root());
    }

    @Test
    void whatHasNoPlaceInADatasetIsCountedAndNamed() {
        TreeScript tree = new TreeScript();
        IntStream.range(10, 30).forEach(i -> tree.with("fifo", hex("fifo-" + i)));
        tree.build(packing.source());
        AtomicReference<List<String>> told = new AtomicReference<>(List.of());
        packing.pack("image", ImageModes.READABLE, 2, new PackListener() {
            @Override
            public void walked(long entries) {}

            @Override
            public void leftOut(long count, List<String> first) {
                assertEquals(20, count);
                told.set(first);
            }

            @Override
            public void packed(long done, long all) {}
        });
        assertEquals(IntStream.range(10, 20).mapToObj(i -> "\"fifo-" + i + "\"").toList(), told.get());
        packing.mounted("image", at -> assertEquals(1, TreeScript.show(at).size()));
    }

    @Test
    void oneWalkerSeesWhatManySee() {
        TreeScript tree = new TreeScript();
        String path = "d";
        for (int depth = 0; depth < 40; depth++) {
            tree.with("dir", hex(path));
            for (int i = 0; i < 5; i++) {
                tree.with("dir", hex(path + "/" + i)).with("file", hex(path + "/" + i + "/f"), "100", path + i);
            }
            path += "/" + "deep".repeat(30);
        }
        tree.build(packing.source());
        List<Manifest> all = IntStream.of(1, 2, 16)
                .mapToObj(parallel -> packing.pack("by-" + parallel, ImageModes.READABLE, parallel))
                .toList();
        assertEquals(Collections.nCopies(3, all.getFirst()), all);
    }
}

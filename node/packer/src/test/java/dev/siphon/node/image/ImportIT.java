package dev.siphon.node.image;

import static dev.siphon.node.image.TreeScript.hex;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.fetch.FetchLimits;
import dev.siphon.node.linux.Programs;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Tars created by GNU tar.
final class ImportIT {
    private static final long OVER_8_GIB = (8L << 30) + 1234;

    private final Importing importing = new Importing();

    @AfterEach
    void close() {
        importing.close();
    }

    private static TreeScript plain() {
        TreeScript tree =
                new TreeScript().with("dir", hex("a")).with("dir", hex("a/b")).with("dir", hex("empty"));
        for (int size : new int[] {0, 1, 1984, 1985, 4096, 110_000, 9_000_001}) {
            tree.with("file", hex("a/of-" + size), Integer.toString(size), "s" + size);
        }
        tree.with("file", hex(new byte[] {'r', (byte) 0xff, (byte) 0x80, '\n', ' '}), "10", "raw")
                .with("file", hex("n".repeat(255)), "10", "name")
                .with("sparse", hex("a/sparse"), "20000000")
                .with("link", hex("a/b/third"), hex("a/of-4096"))
                .with("link", hex("Second"), hex("a/of-4096"))
                .with("symlink", hex("link"), hex("a/of-1"))
                .with("link", hex("link-again"), hex("link"))
                .with("symlink", hex("dangling"), hex(new byte[] {(byte) 0xff, '/', 1}))
                .with("symlink", hex("long"), hex("x".repeat(3000)))
                .with("fifo", hex("a/fifo"));
        String path = "deep";
        for (int depth = 0; depth < 9; depth++) {
            tree.with("dir", hex(path));
            path += "/" + "deep".repeat(30);
        }
        return tree.with("file", hex(path), "5", "deep");
    }

    private static TreeScript tree() {
        return plain().with("attribute", hex("a/of-1"), hex("user.k"), hex(new byte[] {0, (byte) 0xff, '\n', '='}))
                .with("attribute", hex("a/b"), hex("user.a=b%"), hex("v"))
                .with("attribute", hex("a/of-1"), hex("security.no"), hex("no"))
                .with("status", hex("a/of-1985"), "4751", "70000", "3000000", "4102444800987654321")
                .with("status", hex("link"), "777", "10", "11", "-300000000123456789")
                .with("status", hex("a/b"), "700", "0", "0", "0");
    }

    @ParameterizedTest
    @EnumSource(ImageModes.class)
    void aTarAndItsTreeAreOneDataset(ImageModes modes) throws IOException {
        tree().build(importing.packing().source());
        Manifest expected = importing.packing().pack("packed", modes, 2);
        Path tar = importing.tar("t.tar", "--format=pax", "--xattrs", "--sparse");
        assertEquals(expected, importing.run(tar, "imported", modes, 0));
        importing.assertEqualImages("packed", "imported");
        assertEquals(List.of("\"a/fifo\""), importing.leftOut());
        importing.packing().assertSame("imported", modes);
        assertEquals(expected, importing.run(importing.packing().source(), "of-directory", modes, 0));
        // a second run changes nothing
        assertEquals(expected, importing.run(tar, "imported", modes, 0));
    }

    /// Most formats have neither fractions of seconds nor attributes.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "--format=gnu --sparse",
                "--format=gnu",
                "--format=oldgnu --sparse",
                "--format=pax --sparse --sparse-version=0.0",
                "--format=pax --sparse --sparse-version=0.1"
            })
    void eachFormatOfGnuTarIsTheSame(String how) throws IOException {
        plain().build(importing.packing().source());
        Programs.run("find", importing.packing().source().toString(), "-exec", "touch", "-hd", "2020-01-01", "{}", "+");
        Manifest expected = importing.packing().pack("packed", ImageModes.READABLE, 2);
        assertEquals(expected, importing.run(importing.tar("t.tar", how.split(" ", -1)), "imported"));
        importing.assertEqualImages("packed", "imported");
    }

    @ParameterizedTest
    @ValueSource(strings = {"bz2", "gz", "xz", "zst"})
    void aCompressedTarIsUnpackedOnce(String compression) throws IOException {
        tree().build(importing.packing().source());
        Path tar = importing.tar("t.tar", "--format=pax", "--xattrs");
        byte[] plain = Files.readAllBytes(tar);
        Path compressed = importing.packing().path("t.tar." + compression);
        // two concatenated streams, as parallel compressors write them
        try (OutputStream out = Files.newOutputStream(compressed)) {
            Importing.compress(compression, Arrays.copyOf(plain, 1_000_000), out);
            Importing.compress(compression, Arrays.copyOfRange(plain, 1_000_000, plain.length), out);
        }
        Manifest expected = importing.run(tar, "plain");
        assertEquals(expected, importing.run(compressed, "compressed"));
        importing.assertEqualImages("plain", "compressed");
        byte[] bytes = Files.readAllBytes(compressed);
        Files.write(compressed, Arrays.copyOf(bytes, bytes.length - 5000));
        var cut = assertThrows(DriverException.InvalidRequest.class, () -> importing.run(compressed, "cut"));
        assertTrue(cut.getMessage().contains("damaged or cut off"), cut.getMessage());
        bytes[bytes.length / 2] ^= 0x55;
        Files.write(compressed, bytes);
        assertThrows(DriverException.InvalidRequest.class, () -> importing.run(compressed, "damaged"));
        assertFalse(Files.exists(importing.packing().path("damaged")));
    }

    @Test
    void aFileOver8GibIsWhole() throws IOException {
        new TreeScript()
                .with("sparse", hex("large"), Long.toString(OVER_8_GIB))
                .with("file", hex("later"), "5000", "later")
                .build(importing.packing().source());
        Path tar = importing.tar("t.tar", "--format=pax", "--sparse");
        new ImageImport(importing.listening(), FetchLimits.USUAL)
                .run(new ImportRequest(
                        new ImportOrigin.Local(tar),
                        Optional.empty(),
                        0,
                        importing.packing().path("image"),
                        ImageModes.READABLE,
                        2));
        importing.packing().assertSame("image", ImageModes.READABLE);
    }
}

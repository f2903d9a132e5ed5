package dev.siphon.node.image;

import static dev.siphon.node.image.TreeScript.hex;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.ImportCommand;
import dev.siphon.node.Programs;
import dev.siphon.node.fetch.FetchLimits;
import dev.siphon.node.fetch.FileServer;
import dev.siphon.node.fetch.FileServer.Answer;
import dev.siphon.node.tar.TarWriter;
import io.airlift.compress.zstd.ZstdOutputStream;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;
import picocli.CommandLine;

/// Tars, as GNU tar makes them and as nobody should, and images of them.
final class ImportIT {
    private static final long LIMIT_SECONDS = 60;
    private static final long OVER_8_GIB = (8L << 30) + 1234;

    private final Packing packing = new Packing();

    /// The command as a process of its own, so that it can be killed.
    static final class Main {
        private Main() {}

        public static void main(String[] args) {
            System.exit(new CommandLine(new ImportCommand())
                    .setCaseInsensitiveEnumValuesAllowed(true)
                    .execute(args));
        }
    }

    private static final class Listening implements ImportListener {
        private final List<String> leftOut = new ArrayList<>();
        private Runnable begin = () -> {};

        @Override
        public void walked(long entries) {}

        @Override
        public void leftOut(long count, List<String> first) {
            leftOut.addAll(first);
        }

        @Override
        public void packed(long done, long all) {
            if (done == 0) {
                begin.run();
            }
        }

        @Override
        public void downloaded(long done, long all) {}

        @Override
        public void read(long done, long all) {}
    }

    private final Listening listening = new Listening();

    @AfterEach
    void close() {
        packing.close();
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

    private Path tar(String name, String... how) {
        Path tar = packing.path(name);
        List<String> command = new ArrayList<>(List.of("tar", "-cf", tar.toString()));
        command.addAll(List.of(how));
        command.addAll(List.of("-C", packing.source().toString(), "."));
        Programs.run(command.toArray(String[]::new));
        return tar;
    }

    private Manifest run(Path source, String image) {
        return run(source, image, Modes.READABLE, 0);
    }

    private Manifest run(Path source, String image, Modes modes, int strip) {
        return run(new ImportOrigin.Local(source), Optional.empty(), image, modes, strip);
    }

    private Manifest run(ImportOrigin origin, Optional<Digest> sha256, String image, Modes modes, int strip) {
        FetchLimits limits = FetchLimits.USUAL;
        Manifest manifest = new ImageImport(listening, limits)
                .run(new ImportRequest(origin, sha256, strip, packing.path(image), modes, 3));
        Packing.check(packing.path(image), manifest);
        assertEquals(List.of(), beside(image));
        return manifest;
    }

    private List<String> beside(String image) {
        List<String> found = new ArrayList<>();
        for (String each : List.of(".download", ".download.from", ".part.tar", ".part.tar.part", ".part.tar.from")) {
            if (Files.exists(packing.path(image + each))) {
                found.add(each);
            }
        }
        return found;
    }

    private Path write(String name, byte[] tar) {
        try {
            return Files.write(packing.path(name), tar);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void assertEqualImages(String one, String other) throws IOException {
        assertEquals(-1, Files.mismatch(packing.path(one), packing.path(other)));
    }

    @ParameterizedTest
    @EnumSource(Modes.class)
    void aTarAndItsTreeAreOneDataset(Modes modes) throws IOException {
        tree().build(packing.source());
        Manifest expected = packing.pack("packed", modes, 2);
        Path tar = tar("t.tar", "--format=pax", "--xattrs", "--sparse");
        assertEquals(expected, run(tar, "imported", modes, 0));
        assertEqualImages("packed", "imported");
        assertEquals(List.of("\"a/fifo\""), listening.leftOut);
        packing.assertSame("imported", modes);
        assertEquals(expected, run(packing.source(), "of-directory", modes, 0));
        // and once more changes nothing
        assertEquals(expected, run(tar, "imported", modes, 0));
    }

    /// Most have neither fractions of seconds nor attributes.
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
        plain().build(packing.source());
        Programs.run("find", packing.source().toString(), "-exec", "touch", "-hd", "2020-01-01", "{}", "+");
        Manifest expected = packing.pack("packed", Modes.READABLE, 2);
        assertEquals(expected, run(tar("t.tar", how.split(" ", -1)), "imported"));
        assertEqualImages("packed", "imported");
    }

    @ParameterizedTest
    @ValueSource(strings = {"gz", "xz", "zst"})
    void aCompressedTarIsUnpackedOnce(String compression) throws IOException {
        tree().build(packing.source());
        Path tar = tar("t.tar", "--format=pax", "--xattrs");
        byte[] plain = Files.readAllBytes(tar);
        Path compressed = packing.path("t.tar." + compression);
        // two streams one behind the other, as parallel compressors write them
        try (OutputStream out = Files.newOutputStream(compressed)) {
            compress(compression, Arrays.copyOf(plain, 1_000_000), out);
            compress(compression, Arrays.copyOfRange(plain, 1_000_000, plain.length), out);
        }
        Manifest expected = run(tar, "plain");
        assertEquals(expected, run(compressed, "compressed"));
        assertEqualImages("plain", "compressed");
        byte[] bytes = Files.readAllBytes(compressed);
        Files.write(compressed, Arrays.copyOf(bytes, bytes.length - 5000));
        var cut = assertThrows(DriverException.InvalidRequest.class, () -> run(compressed, "cut"));
        assertTrue(cut.getMessage().contains("damaged or cut off"), cut.getMessage());
        bytes[bytes.length / 2] ^= 0x55;
        Files.write(compressed, bytes);
        assertThrows(DriverException.InvalidRequest.class, () -> run(compressed, "damaged"));
        assertFalse(Files.exists(packing.path("damaged")));
    }

    private static void compress(String how, byte[] bytes, OutputStream to) throws IOException {
        OutputStream kept = new FilterOutputStream(to) {
            @Override
            public void write(byte[] from, int offset, int length) throws IOException {
                out.write(from, offset, length);
            }

            @Override
            public void close() throws IOException {
                out.flush();
            }
        };
        try (OutputStream out = switch (how) {
            case "gz" -> new GZIPOutputStream(kept);
            case "xz" -> new XZOutputStream(kept, new LZMA2Options(1));
            default -> new ZstdOutputStream(kept);
        }) {
            out.write(bytes);
        }
    }

    @Test
    void aFileOver8GibIsWhole() throws IOException {
        new TreeScript()
                .with("sparse", hex("large"), Long.toString(OVER_8_GIB))
                .with("file", hex("later"), "5000", "later")
                .build(packing.source());
        Path tar = tar("t.tar", "--format=pax", "--sparse");
        new ImageImport(listening, FetchLimits.USUAL)
                .run(new ImportRequest(
                        new ImportOrigin.Local(tar), Optional.empty(), 0, packing.path("image"), Modes.READABLE, 2));
        packing.assertSame("image", Modes.READABLE);
    }

    @Test
    void ofAnyTarThereIsTheTreeThatTarWouldMake() {
        byte[] tar = new TarWriter()
                .file("/absolute", "a")
                .file("twice", "first")
                .link('1', "kept", "twice")
                .file("./twice", "last")
                .file("implied/by/members", "i")
                .directory("implied/by")
                .link('1', "implied/linked", "/absolute")
                .link('2', "out", "../../etc/passwd")
                .link('2', "becomes", "x")
                .directory("becomes/")
                .file("becomes/directory", "d")
                .link('3', "device", "")
                .link('1', "of-device", "device")
                .link('1', "kept", "kept")
                .end();
        run(write("t.tar", tar), "image");
        assertEquals(List.of("\"device\"", "\"of-device\""), listening.leftOut);
        packing.mounted("image", at -> {
            assertEquals("last", text(at.resolve("twice")));
            assertEquals("first", text(at.resolve("kept")));
            assertEquals("a", text(at.resolve("implied/linked")));
            assertEquals("i", text(at.resolve("implied/by/members")));
            assertEquals("d", text(at.resolve("becomes/directory")));
            assertEquals("../../etc/passwd", target(at.resolve("out")));
            assertEquals(10, TreeScript.show(at, "image").size() - 1);
        });
    }

    @Test
    void partsOfNamesAreStrippedOfHardLinksToo() {
        byte[] tar = new TarWriter()
                .file("gone", "")
                .directory("top")
                .file("top/d/f", "f")
                .link('1', "top/linked", "top/d/f")
                .link('2', "top/link", "top/d/f")
                .end();
        run(write("t.tar", tar), "image", Modes.READABLE, 1);
        packing.mounted("image", at -> {
            assertEquals("f", text(at.resolve("d/f")));
            assertEquals("f", text(at.resolve("linked")));
            assertEquals("top/d/f", target(at.resolve("link")));
            assertEquals(5, TreeScript.show(at, "image").size());
        });
    }

    private static String text(Path path) {
        try {
            return Files.readString(path, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String target(Path path) {
        try {
            return Files.readSymbolicLink(path).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void whatNoTreeCanHaveIsRefusedByName() {
        assertRefused(new TarWriter().file("a/../../up", ""), "\"a/../../up\"");
        assertRefused(new TarWriter().link('1', "h", "nowhere"), "hard link to \"nowhere\"");
        assertRefused(new TarWriter().link('1', "h", "../../etc/shadow"), "leads upwards");
        assertRefused(new TarWriter().link('1', "h", "later").file("later", ""), "no file before it");
        assertRefused(new TarWriter().directory("d").link('1', "h", "d"), "hard link to \"d\"");
        assertRefused(new TarWriter().link('2', "l", "/etc").file("l/passwd", "x"), "is below \"l\"");
        assertRefused(new TarWriter().file("d/f", "").file("d", ""), "has the name of a directory");
        assertRefused(new TarWriter().pax('x', "path", "a\0b").file("f", ""), "a zero in its name");
    }

    private void assertRefused(TarWriter tar, String why) {
        Path path = write("refused.tar", tar.end());
        String message = assertThrows(DriverException.InvalidRequest.class, () -> run(path, "refused"))
                .getMessage();
        assertTrue(message.contains(why), message);
        assertFalse(Files.exists(packing.path("refused.manifest")) || Files.exists(packing.path("refused.part")));
    }

    @Test
    void aTarThatChangesIsAnError() {
        Path tar = write("t.tar", new TarWriter().file("f", "x".repeat(9000)).end());
        listening.begin = () -> append(tar);
        assertThrows(DriverException.InUse.class, () -> run(tar, "image"));
        assertFalse(Files.exists(packing.path("image.manifest")));
        listening.begin = () -> {};
        assertEquals(1, run(tar, "image").files());
    }

    private static void append(Path file) {
        try {
            Files.write(file, new byte[512], StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aTarOfAnotherDigestOrBehindALinkIsRefused() throws IOException {
        byte[] bytes = new TarWriter().file("f", "x").end();
        Path tar = write("t.tar", bytes);
        ImportOrigin origin = new ImportOrigin.Local(tar);
        Digest other = Digest.of(ByteBuffer.wrap(new byte[1]));
        assertThrows(
                DriverException.BackendFault.class, () -> run(origin, Optional.of(other), "image", Modes.READABLE, 0));
        run(origin, Optional.of(Digest.of(ByteBuffer.wrap(bytes))), "image", Modes.READABLE, 0);
        Path link = Files.createSymbolicLink(packing.path("l.tar"), tar);
        assertThrows(DriverException.InvalidRequest.class, () -> run(link, "linked"));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> run(write("b.tar.bz2", "BZh91".getBytes(StandardCharsets.US_ASCII)), "b"));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> new ImportRequest(
                        ImportOrigin.parse("http://127.0.0.1/"),
                        Optional.empty(),
                        0,
                        packing.path("i"),
                        Modes.READABLE,
                        1));
    }

    @Test
    void theSourceIsNeverTakenForWhatTheImageIsMadeBy() throws IOException {
        byte[] bytes = new TarWriter().file("f", "x").end();
        for (String suffix : List.of(".tar", ".tar.part", ".1")) {
            Path tar = write("image" + suffix, bytes);
            run(tar, "image");
            assertEquals(bytes.length, Files.size(tar));
            Files.delete(packing.path("image.manifest"));
            Files.delete(packing.path("image"));
        }
        for (String suffix : List.of("", ".part", ".part.tar", ".download", ".manifest")) {
            Path tar = write("other" + suffix, bytes);
            assertThrows(DriverException.InvalidRequest.class, () -> run(tar, "other"), suffix);
            assertEquals(bytes.length, Files.size(tar));
        }
    }

    private Process start(String source, Digest digest) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "--source=" + source,
                        "--sha256=" + digest,
                        "--image=" + packing.path("image"),
                        "--parallel=2",
                        "--progress")
                .redirectErrorStream(true)
                .start();
    }

    /// Kills an import when it says `sign`; whether it came to that.
    private boolean killAt(Process process, String sign) throws IOException, InterruptedException {
        boolean seen = false;
        try (BufferedReader said = process.inputReader(StandardCharsets.US_ASCII)) {
            for (String line = said.readLine(); line != null && !seen; line = said.readLine()) {
                seen = line.startsWith(sign);
                if (seen) {
                    break;
                }
            }
            process.destroyForcibly();
            assertTrue(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS));
        }
        return seen;
    }

    @ParameterizedTest
    @ValueSource(strings = {"tar", "gz"})
    void killedAtAnyTimeItGoesOnAndMakesTheSame(String kind) throws IOException, InterruptedException {
        TreeScript tree = new TreeScript();
        for (int i = 0; i < 12; i++) {
            tree.with("file", hex("f" + i), "5000000", "f" + i);
        }
        tree.build(packing.source());
        Path tar = tar("t.tar", "--format=pax");
        Manifest expected = run(tar, "expected");
        byte[] sent = Files.readAllBytes(tar);
        if (kind.equals("gz")) {
            var out = new ByteArrayOutputStream();
            compress("gz", sent, out);
            sent = out.toByteArray();
        }
        Digest digest = Digest.of(ByteBuffer.wrap(sent));
        try (FileServer server = new FileServer(sent).then(Answer.STALL)) {
            String address = server.address("/file");
            assertTrue(killAt(start(address, digest), "fetched 4"));
            assertFalse(Files.exists(packing.path("image")));
            assertTrue(killAt(start(address, digest), "fetched 8"));
            assertTrue(server.ranges().getLast().startsWith("bytes="), () -> "asked for " + server.ranges());
            if (kind.equals("gz")) {
                assertTrue(killAt(start(address, digest), "read 5"));
            }
            int asked = server.ranges().size();
            assertTrue(killAt(start(address, digest), "5"));
            assertFalse(Files.exists(packing.path("image.manifest")));
            int askedAfter = server.ranges().size();
            assertTrue(askedAfter <= asked + 1);
            assertEquals(expected, run(ImportOrigin.parse(address), Optional.of(digest), "image", Modes.READABLE, 0));
            // all of it was there
            assertEquals(askedAfter, server.ranges().size());
            assertEqualImages("expected", "image");
        }
    }
}

package dev.siphon.node.unpack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import dev.siphon.node.fetch.FileServer;
import dev.siphon.node.fetch.FileServer.Answer;
import dev.siphon.node.tar.TarWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

/// Tars from a server, unpacked as an account.
final class TarFetchTest {
    private static final int LARGE_BYTES = 300_000;
    private final Fetching fetching = new Fetching();

    @AfterEach
    void close() {
        fetching.close();
    }

    private static byte[] random() {
        byte[] bytes = new byte[LARGE_BYTES];
        new Random(7).nextBytes(bytes);
        return bytes;
    }

    private static byte[] sample() {
        return new TarWriter()
                .directory("d/")
                .file("d/f", "content")
                .with('0', "large", "", random())
                .link('2', "d/up", "../large")
                .link('1', "hard", "d/f")
                .file("./new/deep/file", "x")
                .end();
    }

    private static Map<String, String> expected() {
        return new TreeMap<>(Map.of(
                "d", "d",
                "d/f", "content",
                "large", new String(random(), StandardCharsets.ISO_8859_1),
                "d/up", "-> ../large",
                "hard", "content",
                "new", "d",
                "new/deep", "d",
                "new/deep/file", "x"));
    }

    private static byte[] compressed(String how, byte[] content) {
        ByteArrayOutputStream to = new ByteArrayOutputStream();
        try (OutputStream out = switch (how) {
            case "bzip2" -> new BZip2CompressorOutputStream(to);
            case "gzip" -> new GZIPOutputStream(to);
            case "xz" -> new XZOutputStream(to, new LZMA2Options(1));
            case "zstd" -> new ZstdOutputStreamNoFinalizer(to);
            default -> to;
        }) {
            out.write(content);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        return to.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "bzip2", "gzip", "xz", "zstd"})
    void aTarBecomesATree(String how) throws IOException {
        TreeFetch.Result result = fetching.fetch(compressed(how, sample()));
        assertEquals(expected(), fetching.tree());
        assertEquals(LARGE_BYTES + 8, result.bytes());
        assertEquals(8, result.files());
        Path file = fetching.into().resolve("data/d/f");
        assertEquals("rwxr-x---", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals(100, Files.getLastModifiedTime(file).toMillis() / 1000);
        assertEquals(2, Files.getAttribute(file, "unix:nlink"));
    }

    @Test
    void aRepeatFindsItDone() {
        fetching.fetch(sample());
        TreeFetch.Result again = fetching.fetch("not even asked for".getBytes(StandardCharsets.UTF_8));
        assertEquals(LARGE_BYTES + 2 * 7 + 1, again.bytes());
        assertEquals(expected(), fetching.tree());
    }

    @Test
    void namesKeepTheirBytes() {
        fetching.fetch(new TarWriter().file("\u00ff\u0001\n", "x").end());
        assertEquals(1, fetching.tree().size());
    }

    static Stream<TarWriter> unsafe() {
        return Stream.of(
                new TarWriter().file("../bad", "x"),
                new TarWriter().file("a/../../bad", "x"),
                new TarWriter().file("/tmp/bad", "x"),
                new TarWriter().link('2', "bad", "/etc/passwd"),
                new TarWriter().link('2', "d/bad", "../../out"),
                new TarWriter().link('2', "here", ".").link('2', "bad", "here/../out"),
                new TarWriter().link('2', "d/e/up", "../../x").link('1', "bad", "d/e/up"),
                new TarWriter().link('2', "bad", ".").file("bad/x", "x"),
                new TarWriter().file("bad", "x").file("bad/x", "x"),
                new TarWriter().link('1', "bad", "../out"),
                new TarWriter().link('1', "bad", "/etc/passwd"),
                new TarWriter().link('1', "bad", "missing"),
                new TarWriter().link('3', "bad", ""),
                new TarWriter().link('6', "bad", ""),
                new TarWriter().pax('x', "path", "bad/" + "n".repeat(256)).file("f", ""),
                new TarWriter().pax('x', "path", "bad/" + "n/".repeat(2000)).file("f", ""));
    }

    @ParameterizedTest
    @MethodSource("unsafe")
    void whatLeavesTheTreeIsRefused(TarWriter tar) {
        String message = fetching.assertRefused(
                Reason.UNSAFE_ARCHIVE, tar.file("after", "x").end());
        assertTrue(message.contains("bad") || message.contains("n/n/n") || message.contains("nnn"), message);
        assertFalse(Files.exists(fetching.into().resolve("bad")));
        assertFalse(Files.exists(fetching.into().resolve("out")));
    }

    @Test
    void linksWithinTheTreeAreKept() {
        fetching.fetch(new TarWriter()
                .directory("a/b/")
                .link('2', "a/link", "b/../../c")
                .link('2', "lost", "nowhere/../x")
                .file("c", "x")
                .end());
        assertEquals("-> b/../../c", fetching.tree().get("a/link"));
    }

    @Test
    void tooMuchIsRefusedBeforeItIsWritten() {
        fetching.maxBytes = 1000;
        fetching.assertRefused(
                Reason.TOO_LARGE,
                new TarWriter().with('0', "f", "", new byte[1001]).end());
        byte[] bomb = compressed(
                "gzip", new TarWriter().with('0', "f", "", new byte[50_000_000]).end());
        fetching.maxBytes = 49_999_999;
        fetching.assertRefused(Reason.TOO_LARGE, bomb);
        assertFalse(Files.exists(fetching.into().resolve(".siphon-fetch/tree")));
        fetching.maxBytes = 1 << 20;
        fetching.assertRefused(
                Reason.TOO_LARGE,
                new TarWriter()
                        .pax('x', "GNU.sparse.size", "8000000000000000000", "GNU.sparse.map", "0,0")
                        .file("sparse", "")
                        .end());
    }

    @Test
    void tooManyFilesAreRefusedBeforeOneIsWritten() {
        TarWriter tar = new TarWriter();
        for (int i = 0; i <= 1000; i++) {
            tar.file("f" + i, "");
        }
        fetching.assertRefused(Reason.TOO_MANY_FILES, tar.end());
        assertFalse(Files.exists(fetching.into().resolve(".siphon-fetch/tree")));
    }

    @Test
    void directoriesThatNobodyNamedCount() {
        TarWriter tar = new TarWriter();
        for (int i = 0; i < 5; i++) {
            tar.pax('x', "path", i + "/" + "n/".repeat(500) + "f").file("f", "");
        }
        fetching.assertRefused(Reason.TOO_MANY_FILES, tar.end());
    }

    @ParameterizedTest
    @ValueSource(ints = {511, 512, 1000, 1024, 100_000, LARGE_BYTES})
    void aTarThatIsCutOffIsRefused(int bytes) {
        byte[] cut = Arrays.copyOf(sample(), bytes);
        if (bytes < 512) {
            fetching.fetch(cut);
            assertEquals(1, fetching.tree().size(), "a file that is no tar stays a file");
        } else {
            fetching.assertRefused(Reason.MALFORMED, cut);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bzip2", "gzip", "xz", "zstd"})
    void aCompressedTarThatIsCutOffIsRefused(String how) {
        byte[] whole = compressed(how, sample());
        fetching.assertRefused(Reason.MALFORMED, "/file.tar." + how, Arrays.copyOf(whole, whole.length - 2000));
    }

    @Test
    void aSingleFileStaysAFile() {
        byte[] gzipped = compressed("gzip", "a,b\n".repeat(1000).getBytes(StandardCharsets.UTF_8));
        fetching.fetch(gzipped);
        assertEquals(Map.of("file", new String(gzipped, StandardCharsets.ISO_8859_1)), fetching.tree());
    }

    @Test
    void aKilledFetchGoesOn() {
        byte[] tar = sample();
        try (FileServer server = new FileServer(tar)) {
            server.then(Answer.CUT, Answer.BUSY, Answer.BUSY, Answer.BUSY);
            FetchFailure failure =
                    assertThrows(FetchFailure.class, () -> fetching.fetch(Fetching.at(server, "/file", tar)));
            assertEquals(Reason.SOURCE_UNAVAILABLE, failure.reason());
            fetching.fetch(Fetching.at(server, "/file", tar));
            assertEquals("bytes=" + tar.length / 2 + "-", server.ranges().getLast());
        }
        assertEquals(expected(), fetching.tree());
    }

    @Test
    void whatAKilledFetchUnpackedIsUnpackedAgain() throws IOException {
        byte[] tar = sample();
        Path tree = Files.createDirectories(fetching.into().resolve(".siphon-fetch/tree/old"));
        Files.createSymbolicLink(tree.resolve("link"), Path.of("/etc"));
        fetching.fetch(tar);
        assertEquals(expected(), fetching.tree());
        assertTrue(Files.exists(Path.of("/etc/passwd")));
    }

    @Test
    void aWrongChecksumLeavesNoData() {
        try (FileServer server = new FileServer(sample())) {
            FetchFailure failure =
                    assertThrows(FetchFailure.class, () -> fetching.fetch(Fetching.at(server, "/file", new byte[1])));
            assertEquals(Reason.WRONG_CHECKSUM, failure.reason());
        }
        assertFalse(Files.exists(fetching.into().resolve("data")));
    }
}

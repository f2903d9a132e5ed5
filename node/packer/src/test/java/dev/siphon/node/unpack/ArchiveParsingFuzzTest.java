package dev.siphon.node.unpack;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.fuzz.ParserFuzz;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.tar.TarWriter;
import dev.siphon.node.tar.Tars;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Fuzzes archives that accounts import: each is unpacked as a fetcher does it, and may leave nothing beside its tree.
final class ArchiveParsingFuzzTest {
    private static final long MOST_BYTES = 4 << 20;
    private static final long MOST_FILES = 200;

    /// Headers with the attributes of one file have 4 MiB at most, and are read twice.
    private static final long MOST_ALLOCATED_BYTES = 32 << 20;

    /// What an archive may be refused for.
    private static final Set<Reason> REFUSALS =
            Set.of(Reason.MALFORMED, Reason.UNSAFE_ARCHIVE, Reason.TOO_LARGE, Reason.TOO_MANY_FILES);

    /// Every byte that a name may have.
    private static final String ANY_BYTES = anyBytes();

    /// In memory: a tree is synced to disk.
    private Path place = Path.of("");

    @BeforeEach
    void begin() throws IOException {
        place = Files.createTempDirectory(Path.of("/dev/shm"), "siphon-fuzz-").toRealPath();
        Files.writeString(place.resolve("out"), "untouched");
    }

    @AfterEach
    void end() {
        WorkDirectory.remove(place);
    }

    private static String anyBytes() {
        StringBuilder all = new StringBuilder();
        for (char each = 1; each < 256; each++) {
            if (each != '/') {
                all.append(each);
            }
        }
        return all.substring(0, 120) + "/" + all.substring(120);
    }

    /// Tars that are safe to unpack, with every kind of member.
    private static List<byte[]> tars() {
        byte[] map = new byte[518];
        System.arraycopy("2\n2\n3\n8\n3\n".getBytes(StandardCharsets.ISO_8859_1), 0, map, 0, 10);
        return List.of(
                new TarWriter()
                        .directory("d/")
                        .file("d/f", "content")
                        .link('2', "d/up", "../d/f")
                        .link('2', "a/b", "../d/../lost")
                        .link('1', "h", "d/f")
                        .with('7', "contiguous", "", new byte[600])
                        .end(),
                new TarWriter()
                        .pax('g', "mtime", "1")
                        .pax('x', "path", ANY_BYTES, "mtime", "-1.0000000019")
                        .file("f", "any bytes")
                        .with(
                                'L',
                                "././@LongLink",
                                "",
                                ("n/".repeat(150) + "f\0").getBytes(StandardCharsets.ISO_8859_1))
                        .file("f", "x")
                        .with('K', "././@LongLink", "", "t\0".getBytes(StandardCharsets.ISO_8859_1))
                        .link('2', "k", "")
                        .end(),
                new TarWriter()
                        .pax('x', "GNU.sparse.size", "16", "GNU.sparse.map", "2,3,8,3", "GNU.sparse.name", "s")
                        .file("GNUSparseFile.1/s", "abcdef")
                        .pax(
                                'x',
                                "GNU.sparse.major",
                                "1",
                                "GNU.sparse.minor",
                                "0",
                                "GNU.sparse.realsize",
                                "16",
                                "GNU.sparse.name",
                                "t")
                        .with('0', "GNUSparseFile.1/t", "", map)
                        .end());
    }

    private static List<byte[]> zips() {
        byte[] any = ZipFetchTest.zip("n".repeat(ANY_BYTES.length()), "any bytes", "!stored", "as it is");
        byte[] name = ANY_BYTES.getBytes(StandardCharsets.ISO_8859_1);
        byte[] plain = "n".repeat(name.length).getBytes(StandardCharsets.ISO_8859_1);
        for (int at = 0; at + name.length <= any.length; at++) {
            if (java.util.Arrays.equals(any, at, at + plain.length, plain, 0, plain.length)) {
                System.arraycopy(name, 0, any, at, name.length);
            }
        }
        return List.of(
                ZipFetchTest.zip("d/", "", "d/f", "content\n".repeat(200), "!stored", "as it is", "e/g", ""),
                ZipFetchTest.withMode(ZipFetchTest.zip("link", "d/f", "d/f", "x"), 0xa1ff),
                any);
    }

    private void unpack(byte[] bytes, String name) throws IOException {
        Path file = place.resolve(name);
        Path tree = place.resolve("tree");
        Files.write(file, bytes);
        Files.createDirectory(tree);
        try {
            Optional<Archive> archive = ArchiveFormat.of(file, name);
            if (archive.isPresent()) {
                archive.get().read(new TreeCheck(new TreeLimits(MOST_BYTES, MOST_FILES)));
                try (DirectoryHandle root = DirectoryHandle.open(tree.toString());
                        TreeBuilder builder =
                                new TreeBuilder(root, new TreeLimits(MOST_BYTES, MOST_FILES), Fetching.IGNORED)) {
                    archive.get().read(builder);
                    builder.finish();
                }
                assertLinksStayInside(tree);
            }
        } catch (FetchFailure e) {
            if (!REFUSALS.contains(e.reason())) {
                throw new IllegalStateException("is refused as " + e.reason(), e);
            }
            throw e;
        } finally {
            assertNothingBeside(name);
            WorkDirectory.remove(tree);
        }
    }

    private static void assertLinksStayInside(Path tree) throws IOException {
        try (Stream<Path> all = Files.walk(tree)) {
            for (Path link : all.filter(Files::isSymbolicLink).toList()) {
                if (Files.exists(link) && !link.toRealPath().startsWith(tree)) {
                    throw new IllegalStateException("a link leads out of the tree: " + link);
                }
            }
        }
    }

    private void assertNothingBeside(String name) throws IOException {
        try (Stream<Path> all = Files.list(place)) {
            Set<String> expected = Set.of("out", "tree", name);
            List<Path> other = all.filter(
                            each -> !expected.contains(each.getFileName().toString()))
                    .toList();
            if (!other.isEmpty() || !Files.readString(place.resolve("out")).equals("untouched")) {
                throw new IllegalStateException("something was written beside the tree: " + other);
            }
        }
    }

    private void fuzz(String what, List<byte[]> valid, ParserFuzz.Parse parse) {
        ParserFuzz.of(what, valid, parse, FetchFailure.class, DriverException.InvalidRequest.class, IOException.class)
                .allocating(MOST_ALLOCATED_BYTES)
                .run();
    }

    @Test
    void damagedTars() {
        fuzz("imported tars", tars(), bytes -> unpack(bytes, "file.tar"));
    }

    /// Corrects checksums, so that mutations get past them.
    @Test
    void tarsWithRightChecksums() {
        fuzz("imported tars, checksums", tars(), bytes -> unpack(Tars.withChecksums(bytes), "file.tar"));
    }

    @Test
    void zipsOfAnyBytes() {
        fuzz("imported zips", zips(), bytes -> unpack(bytes, "file.zip"));
    }
}

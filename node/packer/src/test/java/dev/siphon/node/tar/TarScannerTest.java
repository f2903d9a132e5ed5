package dev.siphon.node.tar;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class TarScannerTest {
    private static List<TarMember> scan(byte[] tar) {
        TarScanner scanner = new TarScanner(new InMemory(tar));
        List<TarMember> found = new ArrayList<>();
        for (Optional<TarMember> next = scanner.next(); next.isPresent(); next = scanner.next()) {
            found.add(next.get());
        }
        return found;
    }

    private static TarMember only(byte[] tar) {
        List<TarMember> found = scan(tar);
        assertEquals(1, found.size());
        return found.getFirst();
    }

    private static String content(byte[] tar, TarMember member) {
        TarMember.Content content = member.content();
        StringBuilder text = new StringBuilder(".".repeat((int) content.size()));
        for (TarExtent extent : content.extents()) {
            text.replace(
                    (int) extent.offset(),
                    (int) extent.end(),
                    new String(tar, (int) extent.at(), (int) extent.length(), StandardCharsets.ISO_8859_1));
        }
        return text.toString();
    }

    private static String refusal(byte[] tar) {
        return assertThrows(DriverException.InvalidRequest.class, () -> scan(tar))
                .getMessage();
    }

    @Test
    void eachKindOfMemberIsWhatItSays() {
        byte[] tar = new TarWriter()
                .directory("d/")
                .file("d/f", "content")
                .file("empty", "")
                .link('2', "s", "../out")
                .link('1', "h", "d/f")
                .with('7', "contiguous", "", new byte[3])
                .link('3', "device", "")
                .link('6', "fifo", "")
                .file("old-directory/", "")
                .end();
        List<TarMember> found = scan(tar);
        assertEquals(
                List.of("DIRECTORY", "FILE", "FILE", "SYMLINK", "HARD_LINK", "FILE", "SPECIAL", "SPECIAL", "DIRECTORY"),
                found.stream().map(each -> each.kind().name()).toList());
        TarMember file = found.get(1);
        assertEquals("content", content(tar, file));
        assertTrue(file.content().isPlain());
        assertEquals(
                List.of(0750L, 10L, 11L, 100L),
                List.of(
                        (long) file.permissions(),
                        file.uid(),
                        file.gid(),
                        file.modified().seconds()));
        assertEquals("../out", found.get(3).link());
    }

    @Test
    void namesAreTheOctetsThatTheyAreHoweverLong() {
        String raw = "\u00ff\u0080 \n";
        String large = "l".repeat(300) + "/" + raw;
        byte[] tar = new TarWriter()
                .file(raw, "")
                .pax('x', "path", large, "linkpath", raw + large)
                .link('2', "short", "s")
                .with('L', "././@LongLink", "", (large + "\0").getBytes(StandardCharsets.ISO_8859_1))
                .with('K', "././@LongLink", "", (large + "k\0").getBytes(StandardCharsets.ISO_8859_1))
                .link('1', "short", "s")
                .file("after", "")
                .end();
        assertEquals(
                List.of(raw, large, large, "after"),
                scan(tar).stream().map(TarMember::path).toList());
        assertEquals(
                List.of("", raw + large, large + "k", ""),
                scan(tar).stream().map(TarMember::link).toList());
    }

    @Test
    void aPrefixBelongsToTheNameWherePosixSaysSoAlone() {
        byte[] posix = Arrays.copyOf(new TarWriter().file("name", "").bytes(), 512);
        TarWriter.put(posix, 345, "some/prefix");
        byte[] gnu = posix.clone();
        TarWriter.put(gnu, 257, "ustar  \0");
        assertEquals(
                List.of("some/prefix/name", "name"),
                scan(new TarWriter().sealed(posix).sealed(gnu).end()).stream()
                        .map(TarMember::path)
                        .toList());
    }

    @Test
    void whatPaxSaysGoesBeforeWhatTheHeaderSays() {
        TarMember member = only(new TarWriter()
                .pax('g', "uid", "5", "mtime", "1", "SCHILY.xattr.user.a", "g")
                .pax(
                        'x',
                        "mtime",
                        "-1.0000000019",
                        "gid",
                        "4294967294",
                        "SCHILY.xattr.user.b%3D%25",
                        "\0\u00ff=\n",
                        "SCHILY.xattr.security.x",
                        "no")
                .file("f", "")
                .end());
        assertEquals(new TarMember.Time(-2, 999_999_998), member.modified());
        assertEquals(List.of(5L, 4294967294L), List.of(member.uid(), member.gid()));
        assertEquals(
                Set.of("user.a", "user.b=%", "security.x"), member.attributes().keySet());
        assertArrayEquals(new byte[] {0, -1, '=', '\n'}, member.attributes().get("user.b=%"));
    }

    @Test
    void aSizeOver8GibIsReadInEitherWay() {
        byte[] binary = Arrays.copyOf(new TarWriter().file("name", "").bytes(), 512);
        TarWriter.put(binary, 124, "\u0080\0\0\0\0\0\0\4\0\0\0\0");
        String message = refusal(new TarWriter().sealed(binary).end());
        assertTrue(message.contains("within \"name\""), message);
        assertTrue(refusal(new TarWriter()
                        .pax('x', "size", "17179869184")
                        .file("large", "")
                        .end())
                .contains("within \"large\""));
        TarWriter.put(binary, 124, "\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff");
        assertTrue(refusal(new TarWriter().sealed(binary).end()).contains("negative size"));
    }

    static Stream<Arguments> sparse() {
        byte[] old = Arrays.copyOf(
                new TarWriter().header('S', "f", "", "00000000006").bytes(), 512);
        TarWriter.put(old, 257, "ustar  \0");
        TarWriter.put(old, 483, "00000000020");
        byte[] more = new byte[512];
        TarWriter.put(more, 0, "00000000010\0");
        TarWriter.put(more, 12, "00000000003\0");
        TarWriter.put(old, 386, "00000000002\0");
        TarWriter.put(old, 398, "00000000003\0");
        old[482] = 1;
        byte[] data = "abcdef".getBytes(StandardCharsets.ISO_8859_1);
        byte[] lines = Arrays.copyOf("2\n2\n3\n8\n3\n".getBytes(StandardCharsets.ISO_8859_1), 518);
        System.arraycopy(data, 0, lines, 512, 6);
        return Stream.of(
                Arguments.of(
                        "GNU tar's own", new TarWriter().sealed(old).raw(more).raw(data)),
                Arguments.of(
                        "pax 0.0",
                        new TarWriter()
                                .pax(
                                        'x',
                                        "GNU.sparse.size",
                                        "16",
                                        "GNU.sparse.numblocks",
                                        "2",
                                        "GNU.sparse.offset",
                                        "2",
                                        "GNU.sparse.numbytes",
                                        "3",
                                        "GNU.sparse.offset",
                                        "8",
                                        "GNU.sparse.numbytes",
                                        "3")
                                .with('0', "f", "", data)),
                Arguments.of(
                        "pax 0.1",
                        new TarWriter()
                                .pax('x', "GNU.sparse.size", "16", "GNU.sparse.map", "2,3,8,3", "GNU.sparse.name", "f")
                                .with('0', "GNUSparseFile.1/f", "", data)),
                Arguments.of(
                        "pax 1.0",
                        new TarWriter()
                                .pax(
                                        'x',
                                        "GNU.sparse.major",
                                        "1",
                                        "GNU.sparse.minor",
                                        "0",
                                        "GNU.sparse.realsize",
                                        "16",
                                        "GNU.sparse.name",
                                        "f")
                                .with('0', "GNUSparseFile.1/f", "", lines)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("sparse")
    void aSparseFileIsWhatItWas(String name, TarWriter written) {
        byte[] tar = written.file("after", "after").end();
        List<TarMember> found = scan(tar);
        assertEquals(List.of("f", "after"), found.stream().map(TarMember::path).toList(), name);
        assertEquals("..abc...def.....", content(tar, found.getFirst()));
        assertFalse(found.getFirst().content().isPlain());
        assertEquals("after", content(tar, found.getLast()));
    }

    @Test
    void partsOfASparseFileThatDoNotFitAreRefused() {
        for (String map :
                List.of("2,3,4,3", "0,6", "2,3", "2,3,30,3", "2,-3,8,9", "2", "a,b", "9223372036854775807,3")) {
            String message = refusal(new TarWriter()
                    .pax('x', "GNU.sparse.size", "16", "GNU.sparse.map", map, "GNU.sparse.name", "f")
                    .file("f", "abcdefg")
                    .end());
            assertTrue(message.contains("sparse") || message.contains("part"), map + ": " + message);
        }
    }

    static Stream<Arguments> damaged() {
        byte[] good = new TarWriter()
                .file("first", "x".repeat(600))
                .file("second", "y")
                .end();
        byte[] flipped = good.clone();
        flipped[1536 + 3] ^= 1;
        return Stream.of(
                Arguments.of("nothing", new byte[0], "ends after 0 bytes"),
                Arguments.of("no tar", "x".repeat(2000).getBytes(StandardCharsets.US_ASCII), "does not begin as a tar"),
                Arguments.of("cut in a file", Arrays.copyOf(good, 700), "within \"first\", which begins at byte 0"),
                Arguments.of("cut in a header", Arrays.copyOf(good, 1600), "at byte 1536"),
                Arguments.of("cut before the end", Arrays.copyOf(good, 2560), "at byte 2560"),
                Arguments.of("a flipped bit", flipped, "damaged at byte 1536"),
                Arguments.of(
                        "a pax header alone",
                        new TarWriter().pax('x', "path", "p").end(),
                        "has no member after it"),
                Arguments.of(
                        "a pax header of nonsense",
                        new TarWriter()
                                .with('x', "", "", new byte[] {'9', '9', ' ', 'a'})
                                .file("f", "")
                                .end(),
                        "pax header"),
                Arguments.of(
                        "an endless time",
                        new TarWriter()
                                .pax('x', "mtime", "1e999999999")
                                .file("f", "")
                                .end(),
                        "not a time"),
                Arguments.of(
                        "a volume's rest",
                        new TarWriter().with('M', "f", "", new byte[9]).end(),
                        "volume"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("damaged")
    void damageIsNamedWithItsPlace(String name, byte[] tar, String message) {
        assertTrue(refusal(tar).contains(message), name + ": " + refusal(tar));
    }

    @Test
    void pathsLeadDownwards() {
        assertEquals(List.of("a", "b"), TarPath.parts("//./a/./b//", 0, 0));
        assertEquals(List.of("b"), TarPath.parts("/a/b", 1, 0));
        assertEquals(List.of(), TarPath.parts("a", 2, 0));
        for (String path : List.of("..", "a/../b", "/..", "a\0b", "a/".repeat(40_000))) {
            assertThrows(DriverException.InvalidRequest.class, () -> TarPath.parts(path, 0, 0));
        }
        assertEquals(List.of("...", "..a"), TarPath.parts(".../..a", 0, 0));
    }
}

package dev.siphon.node.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.tar.TarWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Malicious tars, and other invalid sources.
final class HostileTarIT {
    private final Importing importing = new Importing();

    @AfterEach
    void close() {
        importing.close();
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
        importing.run(importing.write("t.tar", tar), "image");
        assertEquals(List.of("\"device\"", "\"of-device\""), importing.leftOut());
        importing.packing().mounted("image", at -> {
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
        importing.run(importing.write("t.tar", tar), "image", ImageModes.READABLE, 1);
        importing.packing().mounted("image", at -> {
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
        assertRefused(new TarWriter().pax('x', "path", "a\0b").file("f", ""), "a NUL byte in its name");
    }

    private void assertRefused(TarWriter tar, String why) {
        Path path = importing.write("refused.tar", tar.end());
        String message = assertThrows(DriverException.InvalidRequest.class, () -> importing.run(path, "refused"))
                .getMessage();
        assertTrue(message.contains(why), message);
        assertFalse(Files.exists(importing.packing().path("refused.manifest"))
                || Files.exists(importing.packing().path("refused.part")));
    }

    @Test
    void aTarThatChangesIsAnError() {
        Path tar = importing.write(
                "t.tar", new TarWriter().file("f", "x".repeat(9000)).end());
        importing.whenPacking(() -> append(tar));
        assertThrows(DriverException.InUse.class, () -> importing.run(tar, "image"));
        assertFalse(Files.exists(importing.packing().path("image.manifest")));
        importing.whenPacking(() -> {});
        assertEquals(1, importing.run(tar, "image").files());
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
        Path tar = importing.write("t.tar", bytes);
        ImportOrigin origin = new ImportOrigin.Local(tar);
        Digest other = Digest.of(ByteBuffer.wrap(new byte[1]));
        assertThrows(
                DriverException.BackendFault.class,
                () -> importing.run(origin, Optional.of(other), "image", ImageModes.READABLE, 0));
        importing.run(origin, Optional.of(Digest.of(ByteBuffer.wrap(bytes))), "image", ImageModes.READABLE, 0);
        Path link = Files.createSymbolicLink(importing.packing().path("l.tar"), tar);
        assertThrows(DriverException.InvalidRequest.class, () -> importing.run(link, "linked"));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> importing.run(importing.write("b.tar.bz2", "BZh91".getBytes(StandardCharsets.US_ASCII)), "b"));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> importing.run(importing.write("b.zip", "PK\3\4".getBytes(StandardCharsets.US_ASCII)), "z"));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> new ImportRequest(
                        ImportOrigin.parse("http://127.0.0.1/"),
                        Optional.empty(),
                        0,
                        importing.packing().path("i"),
                        ImageModes.READABLE,
                        1));
    }

    @Test
    void theSourceIsNeverTakenForWhatTheImageIsMadeBy() throws IOException {
        byte[] bytes = new TarWriter().file("f", "x").end();
        for (String suffix : List.of(".tar", ".tar.part", ".1")) {
            Path tar = importing.write("image" + suffix, bytes);
            importing.run(tar, "image");
            assertEquals(bytes.length, Files.size(tar));
            Files.delete(importing.packing().path("image.manifest"));
            Files.delete(importing.packing().path("image"));
        }
        for (String suffix : List.of("", ".part", ".part.tar", ".download", ".manifest")) {
            Path tar = importing.write("other" + suffix, bytes);
            assertThrows(DriverException.InvalidRequest.class, () -> importing.run(tar, "other"), suffix);
            assertEquals(bytes.length, Files.size(tar));
        }
    }
}

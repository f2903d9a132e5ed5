package dev.siphon.node.image;

import static dev.siphon.node.image.TreeScript.hex;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.node.linux.Programs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// An attacker who may write to the source tries to read files outside it. The packer, as root, could read them.
final class HostileTreeIT {
    private static final String SECRET = "what only root may read ".repeat(100);
    private static final int RACES = 30;

    private final Packing packing = new Packing();
    private final Path outside = packing.path("outside");
    private final Path source = packing.source();

    private interface Step {
        void run() throws IOException;
    }

    @BeforeEach
    void prepare() throws IOException {
        Files.createDirectory(outside);
        Files.writeString(outside.resolve("file"), SECRET);
        new TreeScript()
                .with("dir", hex("d"))
                .with("dir", hex("d/e"))
                .with("file", hex("d/e/file"), Integer.toString(SECRET.length()), "inside")
                .with("file", hex("last"), "5000", "last")
                .build(source);
    }

    @AfterEach
    void close() {
        packing.close();
    }

    private static void unchecked(Step step) {
        try {
            step.run();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void assertNothingLeaked(String name) {
        for (String each : new String[] {name, name + ".part"}) {
            if (Files.exists(packing.path(each))) {
                unchecked(() -> assertFalse(
                        Files.readString(packing.path(each), StandardCharsets.ISO_8859_1)
                                .contains(SECRET.substring(0, 100)),
                        each));
            }
        }
    }

    @Test
    void linksAreKeptAndNotFollowed() throws IOException {
        Files.createSymbolicLink(source.resolve("absolute"), outside.resolve("file"));
        Files.createSymbolicLink(source.resolve("upwards"), Path.of("../outside/file"));
        Files.createSymbolicLink(source.resolve("directory"), outside);
        Files.createSymbolicLink(source.resolve("root"), Path.of("/"));
        packing.pack("image", ImageModes.READABLE, 2);
        assertNothingLeaked("image");
        packing.assertSame("image", ImageModes.READABLE);
    }

    @Test
    void whatIsMountedInTheSourceIsRefused() throws IOException {
        Programs.run(
                "mount", "--bind", outside.toString(), source.resolve("d/e").toString());
        var refused = assertThrows(DriverException.InUse.class, () -> packing.pack("image", ImageModes.READABLE, 2));
        assertTrue(refused.getMessage().contains("mounted at \"d/e\""), refused.getMessage());
        Programs.run("umount", source.resolve("d/e").toString());
        Programs.run(
                "mount",
                "--bind",
                outside.resolve("file").toString(),
                source.resolve("last").toString());
        assertThrows(DriverException.InUse.class, () -> packing.pack("image", ImageModes.READABLE, 2));
        Programs.run("umount", source.resolve("last").toString());
        packing.pack("image", ImageModes.READABLE, 2);
        assertNothingLeaked("image");
    }

    @Test
    void aSourceBehindALinkIsRefused() throws IOException {
        Path link = Files.createSymbolicLink(packing.path("link"), source);
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> new ImagePacker(Packing.listener(() -> {}))
                        .pack(new PackRequest(link, packing.path("image"), ImageModes.READABLE, 1)));
    }

    static Stream<Arguments> changes() {
        return Stream.of(
                Arguments.of("a directory becomes a link", (Change) (source, outside) -> {
                    Files.move(source.resolve("d/e"), source.resolve("away"));
                    Files.createSymbolicLink(source.resolve("d/e"), outside);
                }),
                Arguments.of("a directory above becomes a link", (Change) (source, outside) -> {
                    Files.move(source.resolve("d"), source.resolve("away"));
                    Files.createDirectory(outside.resolve("e"));
                    Files.copy(outside.resolve("file"), outside.resolve("e/file"));
                    Files.createSymbolicLink(source.resolve("d"), outside);
                }),
                Arguments.of("a file becomes a link", (Change) (source, outside) -> {
                    Files.delete(source.resolve("d/e/file"));
                    Files.createSymbolicLink(source.resolve("d/e/file"), outside.resolve("file"));
                }),
                Arguments.of("a file becomes another of its size and time", (Change) (source, outside) -> {
                    Path other = outside.resolve("file");
                    Files.setLastModifiedTime(other, Files.getLastModifiedTime(source.resolve("d/e/file")));
                    Files.move(other, source.resolve("d/e/file"), StandardCopyOption.REPLACE_EXISTING);
                }),
                Arguments.of("a file becomes a FIFO", (Change) (source, _) -> {
                    Files.delete(source.resolve("d/e/file"));
                    Programs.run("mkfifo", source.resolve("d/e/file").toString());
                }),
                Arguments.of("a file becomes a device", (Change) (source, _) -> {
                    Files.delete(source.resolve("d/e/file"));
                    Programs.run("mknod", source.resolve("d/e/file").toString(), "c", "1", "5");
                }),
                Arguments.of("a file is gone", (Change) (source, _) -> Files.delete(source.resolve("d/e/file"))),
                Arguments.of("a file grew", (Change) (source, _) ->
                        Files.writeString(source.resolve("d/e/file"), "more", StandardOpenOption.APPEND)),
                Arguments.of("a file shrank", (Change) (source, _) -> Programs.run(
                        "truncate", "--size=10", source.resolve("d/e/file").toString())),
                Arguments.of("a file was written over", (Change) (source, _) -> {
                    Path file = source.resolve("d/e/file");
                    var time = Files.getLastModifiedTime(file);
                    Files.writeString(file, "x".repeat(10), StandardOpenOption.WRITE);
                    Files.setLastModifiedTime(file, time);
                }),
                Arguments.of("something is mounted on a directory", (Change) (source, outside) -> Programs.run(
                        "mount",
                        "--bind",
                        outside.toString(),
                        source.resolve("d/e").toString())));
    }

    interface Change {
        void make(Path source, Path outside) throws IOException;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("changes")
    void whatChangesBetweenWalkingAndReadingIsAnError(String name, Change change) {
        var refused = assertThrows(
                DriverException.InUse.class,
                () -> packing.pack(
                        "image",
                        ImageModes.READABLE,
                        2,
                        Packing.listener(() -> unchecked(() -> change.make(source, outside)))),
                name);
        assertTrue(refused.getMessage().contains("\"d/e/file\""), refused.getMessage());
        assertFalse(Files.exists(packing.path("image.manifest")));
        assertNothingLeaked("image");
        Programs.run("sh", "-c", "umount " + source.resolve("d/e") + " 2>/dev/null || true");
    }

    @Test
    void aDirectoryThatIsALinkNowAndThenLeaksNothing() throws IOException {
        Path flipped = source.resolve("d/e");
        Path away = packing.path("away");
        Path link = Files.createSymbolicLink(packing.path("link"), outside);
        AtomicBoolean over = new AtomicBoolean();
        Thread flipper = Thread.ofPlatform()
                .start(() -> unchecked(() -> {
                    while (!over.get()) {
                        Files.move(flipped, away);
                        Files.move(link, flipped);
                        Files.move(flipped, link);
                        Files.move(away, flipped);
                    }
                }));
        int packed = 0;
        try {
            for (int race = 0; race < RACES; race++) {
                packed += pack("race-" + race) ? 1 : 0;
                assertNothingLeaked("race-" + race);
            }
        } finally {
            over.set(true);
            join(flipper);
        }
        packing.pack("image", ImageModes.READABLE, 1);
        packing.assertSame("image", ImageModes.READABLE);
        assertTrue(packed < RACES, "it never changed under the packer");
    }

    private boolean pack(String name) {
        try {
            new ImagePacker(Packing.listener(() -> {}))
                    .pack(new PackRequest(source, packing.path(name), ImageModes.READABLE, 2));
            return true;
        } catch (DriverException.InUse _) {
            return false;
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        assertEquals(Thread.State.TERMINATED, thread.getState());
    }
}

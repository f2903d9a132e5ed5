package dev.siphon.node.image;

import static dev.siphon.node.image.TreeScript.hex;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.TestJvm;
import dev.siphon.node.packer.PackCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/// Packers that are killed, that run concurrently, and that find leftovers of others.
final class ResumeIT {
    private static final int FILES = 18;
    private static final int FILE_BYTES = 5_000_000;
    private static final long LIMIT_SECONDS = 60;

    private final Packing packing = new Packing();

    /// Runs the packer as a separate process, so that a test can kill it.
    static final class Main {
        private Main() {}

        public static void main(String[] args) {
            System.exit(new CommandLine(new PackCommand())
                    .setCaseInsensitiveEnumValuesAllowed(true)
                    .execute(args));
        }
    }

    /// Stops a packer in this process, like an error.
    private static final class Stop extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @BeforeEach
    void prepare() {
        TreeScript tree = new TreeScript();
        for (int i = 0; i < FILES; i++) {
            tree.with("file", hex("f" + i), Integer.toString(FILE_BYTES), "f" + i);
        }
        tree.build(packing.source());
    }

    @AfterEach
    void close() {
        packing.close();
    }

    private Process start(String image) throws IOException {
        return TestJvm.of(
                        Main.class,
                        "--source=" + packing.source(),
                        "--image=" + packing.path(image),
                        "--parallel=2",
                        "--progress")
                .redirectErrorStream(true)
                .start();
    }

    /// Kills a packer when it reports `percent`, and returns whether it was still unfinished.
    private boolean killAt(String image, int percent) throws IOException, InterruptedException {
        Process process = start(image);
        try (BufferedReader said = process.inputReader(StandardCharsets.US_ASCII)) {
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                if (line.contains("% ") && Integer.parseInt(line.substring(0, line.indexOf('%'))) >= percent) {
                    break;
                }
            }
            process.destroyForcibly();
            assertTrue(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS));
        }
        return process.exitValue() != 0;
    }

    @Test
    void killedAtAnyTimeItGoesOnAndMakesTheSame() throws IOException, InterruptedException {
        Manifest expected = packing.pack("expected", ImageModes.READABLE, 2);
        int killed = 0;
        for (int percent : new int[] {0, 20, 90, 95, 99}) {
            killed += killAt("image", percent) ? 1 : 0;
            assertEquals(
                    Files.exists(packing.path("image.manifest")),
                    Files.exists(packing.path("image")) && !Files.exists(packing.path("image.part.done")));
        }
        assertTrue(killed >= 3, "only " + killed + " were killed before they were done");
        assertEquals(expected, packing.pack("image", ImageModes.READABLE, 2));
        assertEquals(-1, Files.mismatch(packing.path("expected"), packing.path("image")));
    }

    /// Packs almost everything, then fails.
    private void most(String image) {
        assertThrows(
                Stop.class,
                () -> packing.pack(image, ImageModes.READABLE, 1, new PackListener() {
                    @Override
                    public void walked(long entries) {}

                    @Override
                    public void leftOut(long count, List<String> first) {}

                    @Override
                    public void packed(long done, long all) {
                        if (done > all * 95 / 100) {
                            throw new Stop();
                        }
                    }
                }));
    }

    @Test
    void whatIsDoneIsNotReadFromTheSourceAgain() {
        most("image");
        // most chunks were logged; with their source removed, packing succeeds only if the log is trusted
        Path first = packing.source().resolve("f0");
        Path hidden = packing.path("hidden");
        Path reference = packing.path("reference");
        Programs.run("touch", "--reference=" + packing.source(), reference.toString());
        Manifest manifest = packing.pack("image", ImageModes.READABLE, 2, Packing.listener(() -> move(first, hidden)));
        move(hidden, first);
        Programs.run("touch", "--reference=" + reference, packing.source().toString());
        assertEquals(
                manifest.root(), packing.pack("anew", ImageModes.READABLE, 2).root());
    }

    private static void move(Path from, Path to) {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aChunkThatIsNotWhatTheLogSaysIsMadeAnew() throws IOException {
        most("image");
        try (FileChannel part = FileChannel.open(packing.path("image.part"), StandardOpenOption.WRITE)) {
            part.write(ByteBuffer.allocate(5000), Manifest.offset(3) + 10);
        }
        Manifest manifest = packing.pack("image", ImageModes.READABLE, 2);
        assertEquals(manifest, packing.pack("anew", ImageModes.READABLE, 2));
        assertEquals(-1, Files.mismatch(packing.path("image"), packing.path("anew")));
    }

    @Test
    void ofAChangedSourceNothingIsBelieved() throws IOException {
        most("image");
        Path file = packing.source().resolve("f0");
        var time = Files.getLastModifiedTime(file);
        Files.writeString(file, "other", StandardOpenOption.WRITE);
        Files.setLastModifiedTime(file, time);
        assertEquals(packing.pack("image", ImageModes.READABLE, 2), packing.pack("anew", ImageModes.READABLE, 2));
        assertEquals(-1, Files.mismatch(packing.path("image"), packing.path("anew")));
    }

    @Test
    void aPackerThatDiedBeforeTheManifestHadItsNameIsFollowed() throws IOException {
        most("image");
        move(packing.path("image.part"), packing.path("image"));
        assertEquals(packing.pack("image", ImageModes.READABLE, 2), packing.pack("anew", ImageModes.READABLE, 2));
        assertEquals(-1, Files.mismatch(packing.path("image"), packing.path("anew")));
    }

    @Test
    void aWholeImageStaysAndAnothersIsRefused() throws IOException {
        Manifest manifest = packing.pack("image", ImageModes.READABLE, 2);
        // its time changes with each hand-over to the MDS, but a new file would have another inode
        Object inode = Files.getAttribute(packing.path("image"), "unix:ino");
        assertEquals(manifest, packing.pack("image", ImageModes.READABLE, 2));
        assertEquals(inode, Files.getAttribute(packing.path("image"), "unix:ino"));
        assertThrows(DriverException.IncompatibleExisting.class, () -> packing.pack("image", ImageModes.PRESERVED, 2));
        Files.delete(packing.path("image.manifest"));
        assertThrows(DriverException.IncompatibleExisting.class, () -> packing.pack("image", ImageModes.READABLE, 2));
        assertFalse(Files.exists(packing.path("image.part")));
    }

    @Test
    void whereAnotherPackerIsAtWorkItIsRefused() {
        Manifest manifest = packing.pack("image", ImageModes.READABLE, 2, Packing.listener(() -> {
            assertThrows(DriverException.OperationPending.class, () -> packing.pack("image", ImageModes.READABLE, 2));
            assertRefusedAsProcess();
        }));
        assertEquals(FILES, manifest.files());
    }

    private void assertRefusedAsProcess() {
        try {
            Process process = start("image");
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(said.contains("another packer is making"), said);
            assertTrue(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

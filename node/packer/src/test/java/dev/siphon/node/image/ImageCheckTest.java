package dev.siphon.node.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A mostly sparse image of 300 MiB and its manifest.
final class ImageCheckTest {
    private static final int CHUNKS = 75;
    private static final long BYTES = (long) (CHUNKS - 1) * Manifest.CHUNK_BYTES + 4096;

    @TempDir
    private Path folder = Path.of("");

    private Path image = Path.of("");
    private Path list = Path.of("");
    private Manifest manifest = new Manifest(1, 0, List.of(Digest.of(ByteBuffer.allocate(1))));

    @BeforeEach
    void make() throws IOException {
        image = folder.toRealPath().resolve("image");
        list = folder.toRealPath().resolve("image.manifest");
        byte[] first = new byte[Manifest.CHUNK_BYTES];
        new Random(1).nextBytes(first);
        List<Digest> digests = new ArrayList<>();
        digests.add(Digest.of(ByteBuffer.wrap(first)));
        Digest zeros = Digest.of(ByteBuffer.allocate(Manifest.CHUNK_BYTES));
        while (digests.size() < CHUNKS - 1) {
            digests.add(zeros);
        }
        digests.add(Digest.of(ByteBuffer.allocate(4096)));
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.write(first);
            file.setLength(BYTES);
        }
        manifest = new Manifest(BYTES, 1, digests);
        Files.writeString(list, manifest.text());
    }

    private Optional<String> refusal() {
        return refusal((_, _) -> {});
    }

    private Optional<String> refusal(ImageCheck.Listener listener) {
        return new ImageCheck(image, list, manifest.root(), 2, Duration.ofMinutes(1)).refusal(listener);
    }

    private void change(long at, int value) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.seek(at);
            file.write(value);
        }
    }

    @Test
    void whatIsRightIsReadToItsEnd() {
        List<Long> heard = new ArrayList<>();
        assertEquals(Optional.empty(), refusal((done, all) -> {
            assertEquals(BYTES, all);
            heard.add(done);
        }));
        assertEquals(List.of(64L * Manifest.CHUNK_BYTES, BYTES), heard);
    }

    /// One byte differs: the first, one in a hole, the last.
    @ParameterizedTest
    @ValueSource(longs = {0, 70L * Manifest.CHUNK_BYTES + 5, BYTES - 1})
    void aByteThatIsAnotherIsFound(long at) throws IOException {
        change(at, 0x55);
        String said = refusal().orElseThrow();
        assertTrue(
                said.contains("from byte " + at / Manifest.CHUNK_BYTES * Manifest.CHUNK_BYTES + " on")
                        && said.contains("is not what its manifest says"),
                said);
    }

    @Test
    void aLongerOrShorterOneIsRefused() throws IOException {
        change(BYTES, 0);
        assertTrue(refusal().orElseThrow().contains("has " + (BYTES + 1) + " bytes"));
        Files.write(image, new byte[4096]);
        assertTrue(refusal().orElseThrow().contains("longer than that of an image of 4096 bytes"));
    }

    @Test
    void anotherManifestIsRefused() throws IOException {
        Files.writeString(list, new Manifest(BYTES, 2, manifest.chunks()).text());
        assertTrue(refusal().orElseThrow().contains(", not " + manifest.root()));
        Files.writeString(list, "no manifest");
        assertTrue(refusal().orElseThrow().contains("not a dataset's manifest"));
    }

    /// A manifest of 1 TiB would exhaust the memory.
    @Test
    void aManifestWithoutEndIsNotRead() throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(list.toFile(), "rw")) {
            file.setLength(1L << 40);
        }
        assertTrue(refusal().orElseThrow().contains("longer than that of an image"));
    }

    @Test
    void aLinkIsRefused() throws IOException {
        Files.move(image, folder.resolve("other"));
        Files.createSymbolicLink(image, folder.resolve("other"));
        assertTrue(refusal().orElseThrow().contains("not a file"));
    }

    @Test
    void whatCannotBeReadIsNoVerdict() throws IOException {
        Files.delete(image);
        assertThrows(DriverException.BackendUnavailable.class, this::refusal);
    }
}

package dev.siphon.csi.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.siphon.csi.DriverException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ManifestTest {
    /// `printf abc | sha256sum`
    private static final String ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    private static final Manifest TWO_CHUNKS =
            new Manifest(Manifest.CHUNK_BYTES + 1L, 7, List.of(new Digest(ABC), new Digest(ABC)));

    @Test
    void digestIsSha256() {
        assertEquals(
                ABC,
                Digest.of(ByteBuffer.wrap("abc".getBytes(StandardCharsets.UTF_8)))
                        .hex());
    }

    @Test
    void whatIsWrittenIsRead() {
        assertEquals(TWO_CHUNKS, Manifest.parse(TWO_CHUNKS.text()));
        assertEquals(
                "siphon-dataset 1\nimage-bytes 4194305\nfiles 7\nchunk-bytes 4194304\n" + ABC + "\n" + ABC + "\n",
                TWO_CHUNKS.text());
    }

    /// A node reads one manifest per pod start, and its whole heap is 144 MiB.
    @Test
    void oneOfATebibyteTakesEightMebibytesAndItsOutlineNone(@TempDir Path folder) throws IOException {
        Manifest large = new Manifest(
                1L << 40, 7, Collections.nCopies((1 << 30) / (Manifest.CHUNK_BYTES >> 10), new Digest(ABC)));
        Path file = folder.resolve("manifest");
        try (OutputStream out = Files.newOutputStream(file)) {
            large.write(out);
        }
        ThreadMXBean memory = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = memory.getCurrentThreadAllocatedBytes();
        ManifestOutline outline = ManifestOutline.read(file);
        long ofOutline = memory.getCurrentThreadAllocatedBytes() - before;
        Manifest read = Manifest.read(file);
        long ofAll = memory.getCurrentThreadAllocatedBytes() - before - ofOutline;
        assertEquals(large, read);
        assertEquals(new ManifestOutline(1L << 40, 7, new Digest(ABC), large.root()), outline);
        assertTrue(ofOutline < 1 << 20, "outline: " + ofOutline);
        assertTrue(ofAll < 10 << 20, "all: " + ofAll);
    }

    @Test
    void itsBeginningTellsTheImagesLength() {
        assertEquals(4194305, Manifest.imageBytes(TWO_CHUNKS.text().substring(0, 100)));
        assertThrows(DriverException.InvalidRequest.class, () -> Manifest.imageBytes("siphon-dataset 2\n"));
    }

    @Test
    void lastChunkIsWhatIsLeft() {
        assertEquals(Manifest.CHUNK_BYTES, TWO_CHUNKS.length(0));
        assertEquals(1, TWO_CHUNKS.length(1));
        assertEquals(4194304, Manifest.offset(1));
    }

    @Test
    void rootChangesWithEveryPart() {
        Digest other = Digest.of(ByteBuffer.allocate(1));
        List<Digest> chunks = TWO_CHUNKS.chunks();
        long distinct = java.util.stream.Stream.of(
                        TWO_CHUNKS,
                        new Manifest(TWO_CHUNKS.imageBytes() + 1, 7, chunks),
                        new Manifest(TWO_CHUNKS.imageBytes(), 8, chunks),
                        new Manifest(TWO_CHUNKS.imageBytes(), 7, List.of(other, chunks.get(1))),
                        new Manifest(TWO_CHUNKS.imageBytes(), 7, List.of(chunks.get(0), other)))
                .map(Manifest::root)
                .distinct()
                .count();
        assertEquals(5, distinct);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "nothing,            ''",
        "a later version,    'siphon-dataset 2\nimage-bytes 1\nfiles 1\nchunk-bytes 4194304\nDIGEST\n'",
        "no bytes,           'siphon-dataset 1\nimage-bytes 0\nfiles 1\nchunk-bytes 4194304\n'",
        "other chunks,       'siphon-dataset 1\nimage-bytes 1\nfiles 1\nchunk-bytes 4096\nDIGEST\n'",
        "a chunk too few,    'siphon-dataset 1\nimage-bytes 1\nfiles 1\nchunk-bytes 4194304\n'",
        "a chunk too many,   'siphon-dataset 1\nimage-bytes 1\nfiles 1\nchunk-bytes 4194304\nDIGEST\nDIGEST\n'",
        "a digest in part,   'siphon-dataset 1\nimage-bytes 1\nfiles 1\nchunk-bytes 4194304\nabc\n'",
        "letters,            'siphon-dataset 1\nimage-bytes 1\nfiles 1\nchunk-bytes 4194304\nBA7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n'",
        "too large,          'siphon-dataset 1\nimage-bytes 17592186044417\nfiles 1\nchunk-bytes 4194304\nDIGEST\n'",
        "cut short,          'siphon-dataset 1\nimage-bytes 1\nfiles 1\nchunk-bytes 4194304\nDIGEST'"
    })
    void anythingElseIsRefused(String what, String text) {
        assertThrows(DriverException.InvalidRequest.class, () -> Manifest.parse(text.replace("DIGEST", ABC)), what);
    }
}

package dev.siphon.node.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.dataset.Digest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CompletedChunkLogTest {
    private static final String TITLE = PartFile.TITLE + "f 1";
    private static final Digest ONE = Digest.of(ByteBuffer.wrap(new byte[] {1}));
    private static final Digest TWO = Digest.of(ByteBuffer.wrap(new byte[] {2}));

    @TempDir
    Path directory;

    private Path path() {
        return directory.resolve("log");
    }

    private Map<Integer, Digest> reopened(String title) {
        try (CompletedChunkLog log = CompletedChunkLog.open(path(), title)) {
            return Map.copyOf(log.done());
        }
    }

    private void write() {
        try (CompletedChunkLog log = CompletedChunkLog.open(path(), TITLE)) {
            log.write(CompletedChunkLog.line(0, ONE));
            log.write(CompletedChunkLog.line(7, TWO));
        }
    }

    @Test
    void whatWasWrittenIsThere() {
        assertFalse(CompletedChunkLog.isAt(path()));
        assertEquals(Map.of(), reopened(TITLE));
        write();
        assertEquals(Map.of(0, ONE, 7, TWO), reopened(TITLE));
        assertTrue(CompletedChunkLog.isAt(path()));
    }

    @Test
    void ofAnotherImageNothingIs() {
        write();
        assertEquals(Map.of(), reopened(PartFile.TITLE + "f 2"));
        assertEquals(Map.of(), reopened(TITLE));
    }

    @Test
    void wherverItWasCutOffTheWholeLinesCountAndMoreCanBeWritten() throws IOException {
        write();
        byte[] whole = Files.readAllBytes(path());
        int title = TITLE.length() + 1;
        int first = title + CompletedChunkLog.line(0, ONE).length();
        for (int length = 0; length < whole.length; length++) {
            Files.write(path(), java.util.Arrays.copyOf(whole, length));
            assertEquals(length < first ? Map.of() : Map.of(0, ONE), reopened(TITLE), length + " bytes");
            try (CompletedChunkLog log = CompletedChunkLog.open(path(), TITLE)) {
                log.write(CompletedChunkLog.line(9, TWO));
            }
            assertEquals(length < first ? Map.of(9, TWO) : Map.of(0, ONE, 9, TWO), reopened(TITLE), length + " bytes");
        }
    }

    @Test
    void behindALineThatIsNoneNothingCounts() throws IOException {
        write();
        String text = Files.readString(path());
        Files.writeString(path(), text.replace(CompletedChunkLog.line(0, ONE), "0 nonsense\n"));
        assertEquals(Map.of(), reopened(TITLE));
    }
}

package dev.siphon.node.replica.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChunkRecordTest {
    @TempDir
    Path directory;

    private static BitSet bits(int... set) {
        BitSet bits = new BitSet();
        for (int bit : set) {
            bits.set(bit);
        }
        return bits;
    }

    private Path written() {
        Path path = directory.resolve("record");
        try (ChunkRecord record = ChunkRecord.begin(path, bits(3))) {
            record.add(0);
            record.add(7);
            record.add(0);
        }
        return path;
    }

    @Test
    void whatWasAddedIsRead() {
        assertEquals(bits(0, 3, 7), ChunkRecord.read(written(), 10));
    }

    @Test
    void noRecordIsAnEmptyOne() {
        assertEquals(bits(), ChunkRecord.read(directory.resolve("none"), 10));
    }

    @Test
    void aTornEndAndChunksThatAreNoneDoNoHarm() throws IOException {
        Path path = written();
        Files.write(path, new byte[] {0, 0, 0, 9, -1, -1, -1, -1, 0, 0, 0}, StandardOpenOption.APPEND);
        assertEquals(bits(0, 3, 7, 9), ChunkRecord.read(path, 10));
        assertEquals(bits(0, 3), ChunkRecord.read(path, 5));
    }

    @Test
    void beginningAnewForgets() {
        Path path = written();
        ChunkRecord.begin(path, bits(1, 2)).close();
        assertEquals(bits(1, 2), ChunkRecord.read(path, 10));
    }
}

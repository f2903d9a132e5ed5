package dev.siphon.node.replica.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CachedReplicaTest {
    private static final int CHUNKS = 10;

    @TempDir
    Path cache;

    private CachedReplica replica() {
        return new CachedReplica(cache, new Digest("a".repeat(64)));
    }

    @Test
    void aPartIsAsFarAsItsRecordSaysThoughNobodyFillsIt() throws IOException {
        assertEquals(0, replica().percentDone());
        Files.createDirectory(replica().part().getParent());
        try (RandomAccessFile part = new RandomAccessFile(replica().part().toFile(), "rw")) {
            part.setLength((long) CHUNKS * Manifest.CHUNK_BYTES - 1);
        }
        assertEquals(0, replica().percentDone());
        BitSet done = new BitSet();
        done.set(0, 3);
        try (ChunkRecord record = ChunkRecord.begin(replica().record(), done)) {
            assertEquals(30, replica().percentDone());
            record.add(7);
            assertEquals(40, replica().percentDone());
        }
        done.set(0, CHUNKS);
        ChunkRecord.begin(replica().record(), done).close();
        assertEquals(100, replica().percentDone());
    }
}

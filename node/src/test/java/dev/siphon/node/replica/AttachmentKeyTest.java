package dev.siphon.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.dataset.Digest;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AttachmentKeyTest {
    private static final Digest DIGEST = new Digest("0123456789abcdef".repeat(4));

    @Test
    void aTagFitsIntoTheKernelsField() {
        AttachmentKey key = new AttachmentKey(DIGEST, "abcdefghijkl");
        assertEquals("siphon:0123456789abcdef0123456789abcdef01234567:abcdefghijkl", key.tag());
        assertTrue(key.tag().length() <= 63);
        assertThrows(IllegalArgumentException.class, () -> new AttachmentKey(DIGEST, "abcdefghijklm"));
        assertThrows(IllegalArgumentException.class, () -> new AttachmentKey(DIGEST, "../x"));
    }

    @Test
    void mostFreeIsTheDirectoryWithMostRoomThatCouldHoldIt() {
        Placement.Candidate full = new Placement.Candidate(Path.of("/full"), 100, 90, 1000);
        Placement.Candidate small = new Placement.Candidate(Path.of("/small"), 20, 0, 1000);
        Placement.Candidate fullDisk = new Placement.Candidate(Path.of("/disk"), 100, 0, 5);
        Placement most = Placement.mostFree();
        assertEquals(Optional.of(Path.of("/small")), most.choose(DIGEST, 20, List.of(full, small, fullDisk)));
        assertEquals(Optional.of(Path.of("/full")), most.choose(DIGEST, 30, List.of(full, small, fullDisk)));
        assertEquals(Optional.empty(), most.choose(DIGEST, 101, List.of(full, small)));
    }
}

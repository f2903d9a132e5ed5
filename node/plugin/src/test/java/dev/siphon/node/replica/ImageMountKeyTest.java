package dev.siphon.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.dataset.Digest;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ImageMountKeyTest {
    private static final Digest DIGEST = new Digest("0123456789abcdef".repeat(4));

    @Test
    void aTagFitsIntoTheKernelsField() {
        ImageMountKey key = new ImageMountKey(DIGEST, "abcdefghijkl");
        assertEquals("siphon:0123456789abcdef0123456789abcdef01234567:abcdefghijkl", key.tag());
        assertTrue(key.tag().length() <= 63);
        assertThrows(IllegalArgumentException.class, () -> new ImageMountKey(DIGEST, "abcdefghijklm"));
        assertThrows(IllegalArgumentException.class, () -> new ImageMountKey(DIGEST, "../x"));
    }

    @Test
    void mostFreeIsTheDirectoryWithMostRoomThatCouldHoldIt() {
        ReplicaPlacement.Candidate full = new ReplicaPlacement.Candidate(Path.of("/full"), 100, 90, 1000);
        ReplicaPlacement.Candidate small = new ReplicaPlacement.Candidate(Path.of("/small"), 20, 0, 1000);
        ReplicaPlacement.Candidate fullDisk = new ReplicaPlacement.Candidate(Path.of("/disk"), 100, 0, 5);
        ReplicaPlacement most = ReplicaPlacement.mostFree();
        assertEquals(Optional.of(Path.of("/small")), most.choose(DIGEST, 20, List.of(full, small, fullDisk)));
        assertEquals(Optional.of(Path.of("/full")), most.choose(DIGEST, 30, List.of(full, small, fullDisk)));
        assertEquals(Optional.empty(), most.choose(DIGEST, 101, List.of(full, small)));
    }
}

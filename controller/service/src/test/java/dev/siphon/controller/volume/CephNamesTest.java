package dev.siphon.controller.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.csi.SnapshotId;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class CephNamesTest {
    private static final SubvolumeGroup GROUP = new SubvolumeGroup("lab", "cephfs", CephNames.group("10001"));
    private static final ContentSource VOLUME =
            new ContentSource.FromVolume(GROUP.volume(CephNames.plain(GROUP, "source")));
    private static final ContentSource SNAPSHOT = new ContentSource.FromSnapshot(
            new SnapshotId(GROUP.volume(CephNames.plain(GROUP, "source")), CephNames.snapshot("s")));

    @Test
    void aSnapshotMadeByHandIsNoSealedOneBecauseOfItsFirstLetter() {
        assertTrue(CephNames.isSealedSnapshot(CephNames.sealedSnapshot("s", SnapshotClass.Modes.READABLE)));
        assertFalse(CephNames.isSealedSnapshot("imagenet-2024-01-abcd"));
        assertFalse(CephNames.isSealedSnapshot("i"));
    }

    @Test
    void whatWasBegunFromOneSourceIsNeverFinishedAsAnothers() {
        String fromVolume = CephNames.filled(GROUP, "a", VOLUME);
        String fromSnapshot = CephNames.filled(GROUP, "a", SNAPSHOT);

        assertNotEquals(fromVolume, fromSnapshot);
        assertTrue(fromVolume.startsWith(CephNames.filledPrefix(GROUP, "a")), fromVolume);
        assertTrue(fromSnapshot.startsWith(CephNames.filledPrefix(GROUP, "a")), fromSnapshot);
        assertEquals(CephNames.common(fromVolume), CephNames.common(fromSnapshot));
    }

    @Test
    void aFilledVolumesNameLeadsBackToItsSource() {
        String filled = CephNames.filled(GROUP, "a", VOLUME);

        assertTrue(filled.endsWith(CephNames.filledSuffix(VOLUME)), filled);
        assertFalse(filled.endsWith(CephNames.filledSuffix(SNAPSHOT)), filled);
        assertEquals(Optional.of(CephNames.Kind.FILLED), CephNames.kindOf(filled));
    }

    @Test
    void theSnapshotOfAnExportSaysWhenItBegan() {
        Instant begun = Instant.parse("2026-11-21T22:33:44Z");
        String name = CephNames.exportSnapshot(begun, "one");
        assertTrue(CephNames.isTransferSnapshot(name), name);
        assertEquals(Optional.of(Instant.parse("2026-11-21T22:33:00Z")), CephNames.exportBegun(name));
        assertNotEquals(name, CephNames.exportSnapshot(begun, "two"));
        assertEquals(Optional.empty(), CephNames.exportBegun(CephNames.transferSnapshot("target")));
    }
}

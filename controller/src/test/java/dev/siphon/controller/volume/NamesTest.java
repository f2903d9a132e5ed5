package dev.siphon.controller.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.SnapshotId;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class NamesTest {
    private static final Group GROUP = new Group("lab", "cephfs", Names.group("10001"));
    private static final ContentSource VOLUME =
            new ContentSource.FromVolume(GROUP.volume(Names.plain(GROUP, "source")));
    private static final ContentSource SNAPSHOT = new ContentSource.FromSnapshot(
            new SnapshotId(GROUP.volume(Names.plain(GROUP, "source")), Names.snapshot("s")));

    @Test
    void aSnapshotMadeByHandIsNoSealedOneBecauseOfItsFirstLetter() {
        assertTrue(Names.isSealedSnapshot(Names.sealedSnapshot("s", SnapshotClass.Modes.READABLE)));
        assertFalse(Names.isSealedSnapshot("imagenet-2024-01-abcd"));
        assertFalse(Names.isSealedSnapshot("i"));
    }

    @Test
    void whatWasBegunFromOneSourceIsNeverFinishedAsAnothers() {
        String fromVolume = Names.filled(GROUP, "a", VOLUME);
        String fromSnapshot = Names.filled(GROUP, "a", SNAPSHOT);

        assertNotEquals(fromVolume, fromSnapshot);
        assertTrue(fromVolume.startsWith(Names.filledPrefix(GROUP, "a")), fromVolume);
        assertTrue(fromSnapshot.startsWith(Names.filledPrefix(GROUP, "a")), fromSnapshot);
        assertEquals(Names.common(fromVolume), Names.common(fromSnapshot));
    }

    @Test
    void aFilledVolumesNameLeadsBackToItsSource() {
        String filled = Names.filled(GROUP, "a", VOLUME);

        assertTrue(filled.endsWith(Names.filledSuffix(VOLUME)), filled);
        assertFalse(filled.endsWith(Names.filledSuffix(SNAPSHOT)), filled);
        assertEquals(Optional.of(Names.Kind.FILLED), Names.kindOf(filled));
    }

    @Test
    void theSnapshotOfAnExportSaysWhenItBegan() {
        Instant begun = Instant.parse("2026-11-21T22:33:44Z");
        String name = Names.exportSnapshot(begun, "one");
        assertTrue(Names.isTransferSnapshot(name), name);
        assertEquals(Optional.of(Instant.parse("2026-11-21T22:33:00Z")), Names.exportBegun(name));
        assertNotEquals(name, Names.exportSnapshot(begun, "two"));
        assertEquals(Optional.empty(), Names.exportBegun(Names.transferSnapshot("target")));
    }
}

package dev.siphon.controller.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.audit.Finding.Kind;
import dev.siphon.controller.audit.VolumesDirectory.Top;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Cases that no test can produce on a cluster, because its mgr interferes.
final class ChecksTest {
    private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
    private static final GracePeriods AGES =
            new GracePeriods(Duration.ofHours(24), Duration.ofHours(24), Duration.ofHours(6), Duration.ZERO);
    private static final String GROUP = "a0123456789abcdefghij";

    private static FileSystemScan look(Map<String, String> clones, Map<String, Instant> trash) {
        var group = new dev.siphon.controller.volume.SubvolumeGroup("lab", "cephfs", GROUP);
        var state = new VolumesDirectory.GroupState(group, OptionalLong.empty(), Map.of());
        return new FileSystemScan(
                "lab",
                "cephfs",
                NOW,
                new Top(List.of(GROUP), clones, trash, Set.of(), Set.of()),
                Map.of(GROUP, new FileSystemScan.ScannedGroup(state, List.of())));
    }

    @Test
    void whatWaitsToBePurgedIsFoundWhenItHasWaitedTooLong() {
        FileSystemScan scan =
                look(Map.of(), Map.of("old", NOW.minus(Duration.ofHours(7)), "young", NOW.minus(Duration.ofHours(5))));
        List<Finding> found = new RemovalChecks(scan, AGES).all();
        assertEquals(List.of(Kind.TRASH_LEFT), found.stream().map(Finding::kind).toList());
        assertTrue(found.getFirst().object().endsWith("/volumes/_deleting/old"));
    }

    @Test
    void aCloneToBeMadeOfNothingIsFoundInOurGroupsOnly() {
        String ours = "/volumes/" + GROUP + "/c0123456789abcdefghijklm";
        FileSystemScan scan = look(Map.of("track", ours, "other", "/volumes/somebody/else"), Map.of());
        List<Finding> found = new ContentChecks(scan, AGES).all();
        assertEquals(
                List.of(new Repair.RemoveFile("lab", "cephfs", "/volumes/_index/clone/track")),
                found.stream().map(Finding::repair).toList());
    }

    /// Checks a volume with mode 1000, years after its creation.
    private static List<Finding> closed(String name, long entries, List<String> snapshots) {
        var group = new dev.siphon.controller.volume.SubvolumeGroup("lab", "cephfs", GROUP);
        String data = "01234567-89ab-cdef-0123-456789abcdef";
        var entry = new VolumesDirectory.EntryState(
                name,
                VolumesDirectory.FileKind.DIRECTORY,
                NOW.minus(Duration.ofDays(1000)),
                new VolumesDirectory.Meta.Read(MetaFile.complete(group.path() + "/" + name + "/" + data)),
                List.of(new VolumesDirectory.DataState(
                        data, VolumesDirectory.FileKind.DIRECTORY, 1, 1, 01000, entries, "own")),
                List.of(),
                snapshots,
                false);
        var state = new VolumesDirectory.GroupState(group, OptionalLong.empty(), Map.of());
        FileSystemScan scan = new FileSystemScan(
                "lab",
                "cephfs",
                NOW,
                new Top(List.of(GROUP), Map.of(), Map.of(), Set.of(), Set.of()),
                Map.of(GROUP, new FileSystemScan.ScannedGroup(state, List.of(entry))));
        return new ContentChecks(scan, AGES).all();
    }

    @Test
    void aVolumeWithFilesIsNeverDeletedForAModeThatItsOwnerCanSet() {
        for (String name : List.of("v0123456789abcdefghij", "h0123456789abcdefghij")) {
            for (List<Finding> found : List.of(closed(name, 1, List.of()), closed(name, 0, List.of("s1")))) {
                assertEquals(
                        List.of(Kind.CLOSED), found.stream().map(Finding::kind).toList());
                assertInstanceOf(Repair.ByHand.class, found.getFirst().repair());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"0, '', false, true", "1, '', false, false", "0, aside, false, false", "0, '', true, false"})
    void whatHoldsFilesAnywhereIsNotEmpty(long entries, String beside, boolean purging, boolean empty) {
        var entry = new VolumesDirectory.EntryState(
                "v0123456789abcdefghij",
                VolumesDirectory.FileKind.DIRECTORY,
                NOW,
                new VolumesDirectory.Meta.Missing(),
                List.of(new VolumesDirectory.DataState(
                        "d", VolumesDirectory.FileKind.DIRECTORY, 1, 1, 0700, entries, "own")),
                beside.isEmpty() ? List.of() : List.of(beside),
                List.of(),
                purging);
        assertEquals(empty, VolumeChecks.hasNoFiles(entry));
        var volume = new dev.siphon.controller.volume.SubvolumeGroup("lab", "cephfs", GROUP).volume(entry.name());
        assertEquals(empty, VolumeChecks.deleted(volume, entry) instanceof Repair.DeleteVolume);
    }

    @Test
    void aVolumeWithoutFilesThatWasNeverFinishedIsDeleted() {
        List<Finding> found = closed("v0123456789abcdefghij", 0, List.of());
        assertEquals(
                List.of(Kind.HALF_FILLED), found.stream().map(Finding::kind).toList());
        assertInstanceOf(Repair.DeleteVolume.class, found.getFirst().repair());
    }

    @Test
    void aRemarkIsNoDefect() {
        assertFalse(Kind.ACCOUNT_GONE.isDefect());
        assertTrue(Kind.QUOTA_DRIFT.isDefect());
        assertEquals("identity-without-volume", Kind.IDENTITY_WITHOUT_VOLUME.toString());
    }
}

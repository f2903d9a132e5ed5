package dev.siphon.controller.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.FileTree.Copy;
import dev.siphon.controller.volume.Subvolumes.SubvolumeSpec;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The contract of [FileTree] for subvolumes' directories, for the adapter and the fake.
public abstract class FileTreeContract {
    private static final long SIZE = 64L << 20;

    /// How long Ceph may take to purge a volume.
    private static final Duration PURGED = Duration.ofSeconds(60);

    private final String cluster;
    private final String fileSystem;
    private final SubvolumeGroup group;
    private final VolumeId.Provisioned volume;
    private final VolumeId.Provisioned target;
    private final SnapshotId snapshot;
    private final String home;
    private String data = "";

    /// @param cluster a cluster to test with
    /// @param fileSystem a file system of that cluster
    protected FileTreeContract(String cluster, String fileSystem) {
        this.cluster = cluster;
        this.fileSystem = fileSystem;
        group = new SubvolumeGroup(cluster, fileSystem, "afiletree");
        volume = group.volume("v-one");
        target = group.volume("c-two");
        snapshot = new SnapshotId(volume, "s-one");
        home = group.path() + "/" + volume.subvolume();
    }

    protected abstract FileTree files();

    protected abstract Subvolumes subvolumes();

    /// Writes a file as another client.
    protected abstract void write(String path, String text);

    @BeforeEach
    final void haveAVolume() {
        subvolumes().createGroup(group, OptionalLong.empty(), Optional.empty());
        data = create(volume);
    }

    @AfterEach
    final void leaveNothing() {
        // first, because a volume removed with its last snapshot is purged later and blocks its name until then
        subvolumes().removeSnapshot(snapshot);
        subvolumes().remove(volume);
        subvolumes().remove(target);
    }

    /// Creates the volume, with retries like a sidecar: Ceph may still be purging the previous test's volume of the
    /// same name.
    private String create(VolumeId.Provisioned id) {
        SubvolumeSpec spec = new SubvolumeSpec(OptionalLong.of(SIZE), 10_001, 10_001, 0700, Optional.empty());
        long end = System.nanoTime() + PURGED.toNanos();
        boolean isMade = false;
        while (!isMade) {
            try {
                subvolumes().create(id, spec);
                isMade = true;
            } catch (DriverException.OperationPending purging) {
                assertTrue(System.nanoTime() < end, purging.getMessage());
            }
        }
        return subvolumes().find(id).orElseThrow().dataPath().orElseThrow();
    }

    @Test
    final void theDirectoriesInADirectoryAreListed() {
        assertTrue(files().directories(cluster, fileSystem, "/volumes").contains(group.name()));
        assertEquals(List.of(), files().directories(cluster, fileSystem, "/volumes/anothing"));
    }

    @Test
    final void theQuotaOfASubvolumeIsItsSize() {
        assertEquals(OptionalLong.of(SIZE), files().quotaBytes(cluster, fileSystem, data));
        files().setQuotaBytes(cluster, fileSystem, data, 2 * SIZE);
        assertEquals(OptionalLong.of(2 * SIZE), files().quotaBytes(cluster, fileSystem, data));
        assertEquals(
                OptionalLong.of(2 * SIZE),
                subvolumes().find(volume).orElseThrow().quotaBytes());
        files().setQuotaBytes(cluster, fileSystem, data, 0);
        assertEquals(OptionalLong.empty(), files().quotaBytes(cluster, fileSystem, data));
    }

    @Test
    final void quotaFilesAndModeMayBeSetAgain() {
        for (int i = 0; i < 2; i++) {
            files().setQuotaFiles(cluster, fileSystem, data, 1000);
            files().setMode(cluster, fileSystem, data, 0755);
        }
        assertEquals(0755, subvolumes().find(volume).orElseThrow().mode());
        assertEquals(OptionalLong.of(1000), files().quotaFiles(cluster, fileSystem, data));
        files().setQuotaFiles(cluster, fileSystem, data, 0);
        assertEquals(OptionalLong.empty(), files().quotaFiles(cluster, fileSystem, data));
    }

    @Test
    final void aSnapshotSaysWhenItWasTakenWhateverZoneTheMgrIsIn() {
        subvolumes().createSnapshot(snapshot);
        Instant taken = files().takenAt(cluster, fileSystem, home + "/.snap/" + snapshot.name());
        assertTrue(Duration.between(taken, Instant.now()).abs().compareTo(Duration.ofMinutes(2)) < 0, taken::toString);
        assertThrows(
                DriverException.NotFound.class, () -> files().takenAt(cluster, fileSystem, home + "/.snap/missing"));
    }

    private GroupUsage.Entry held() {
        return files().holdings(group).subvolumes().stream()
                .filter(entry -> entry.name().equals(volume.subvolume()))
                .findFirst()
                .orElseThrow();
    }

    @Test
    final void aGroupTellsWhatIsInIt() {
        files().setQuotaBytes(cluster, fileSystem, group.path(), 4 * SIZE);
        files().setNote(cluster, fileSystem, group.path(), AccountNote.NAME, "10001 née");
        files().setNote(cluster, fileSystem, home, GroupUsage.OVERCOMMITTED, "true");
        subvolumes().createSnapshot(snapshot);

        GroupUsage.GroupStanding standing = files().standings(cluster, fileSystem).stream()
                .filter(each -> each.group().equals(group.name()))
                .findFirst()
                .orElseThrow();
        assertEquals(OptionalLong.of(4 * SIZE), standing.quotaBytes());
        assertEquals(Optional.of(new AccountNote("10001", "née")), standing.account());
        assertEquals(standing.quotaBytes(), files().holdings(group).standing().quotaBytes());
        assertEquals(OptionalLong.of(SIZE), held().sizeBytes());
        assertTrue(held().live() && held().overcommitted());
        assertEquals(
                List.of(new GroupUsage.Snapshot(snapshot.name(), OptionalLong.empty(), OptionalLong.of(SIZE), 0)),
                held().snapshots());
        assertTrue(files().groupsWith(cluster, fileSystem, AccountNote.NAME).contains(group.name()));
        assertFalse(files().groupsWith(cluster, fileSystem, "none").contains(group.name()));
        files().setQuotaBytes(cluster, fileSystem, group.path(), 0);
        SubvolumeGroup missing = new SubvolumeGroup(cluster, fileSystem, "amissing");
        assertThrows(DriverException.NotFound.class, () -> files().holdings(missing));
    }

    @Test
    final void aSnapshotCountsWithTheImageThatWasMadeOfIt() {
        subvolumes().createSnapshot(snapshot);
        files().setNote(cluster, fileSystem, home, GroupUsage.IMAGE + snapshot.name(), "5000");
        assertEquals(5000, held().snapshots().getFirst().imageBytes());
    }

    @Test
    final void aDirectoryForADatasetHasARadosNamespaceAndGoesWithItsFiles() {
        String path = "/datasets/i-one";
        String image = path + "/image";
        for (int i = 0; i < 2; i++) {
            files().makeDirectory(cluster, fileSystem, path, "dataset-i-one");
            assertEquals(
                    "dataset-i-one", files().layout(cluster, fileSystem, path).namespace());
        }
        files().setNote(cluster, fileSystem, path, "dataset", "u1.x");
        assertEquals(Optional.of("u1.x"), files().note(cluster, fileSystem, path, "dataset"));
        assertEquals(Optional.empty(), files().digest(cluster, fileSystem, image));
        String text = "how it begins ".repeat(20_000);
        write(image, text);
        FileTree.Digested read = files().digest(cluster, fileSystem, image).orElseThrow();
        assertEquals(text.substring(0, FileTree.Digested.BEGINNING_BYTES), read.beginning());
        assertEquals(Digest.of(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII))), read.sha256());
        for (int i = 0; i < 2; i++) {
            files().removeDirectory(cluster, fileSystem, path);
            assertEquals(Optional.empty(), files().digest(cluster, fileSystem, image));
            assertEquals(Optional.empty(), files().note(cluster, fileSystem, path, "dataset"));
        }
    }

    @Test
    final void whatASnapshotHoldsIsMeasuredOnceAndKeptLongerThanItsVolume() {
        subvolumes().createSnapshot(snapshot);
        long bytes = files().measure(snapshot, 1_000, SIZE);
        assertTrue(bytes < 4_096, () -> bytes + " bytes of no file");
        assertEquals(OptionalLong.of(bytes), held().snapshots().getFirst().heldBytes());
        subvolumes().remove(volume);
        assertFalse(held().live());
        assertEquals(OptionalLong.of(bytes), held().snapshots().getFirst().heldBytes());
        subvolumes().removeSnapshot(snapshot);
        assertThrows(DriverException.NotFound.class, () -> files().measure(snapshot, 1_000, SIZE));
        data = create(volume);
        subvolumes().createSnapshot(snapshot);
        assertEquals(OptionalLong.empty(), held().snapshots().getFirst().heldBytes(), "a later one of that name");
    }

    @Test
    final void whatIsNotThereIsNotFound() {
        String missing = "/volumes/" + group.name() + "/missing";
        assertThrows(DriverException.NotFound.class, () -> files().quotaBytes(cluster, fileSystem, missing));
        assertThrows(DriverException.NotFound.class, () -> files().setQuotaBytes(cluster, fileSystem, missing, SIZE));
        assertThrows(DriverException.NotFound.class, () -> files().setQuotaFiles(cluster, fileSystem, missing, 1));
        assertThrows(DriverException.NotFound.class, () -> files().setMode(cluster, fileSystem, missing, 0700));
        assertThrows(DriverException.NotFound.class, () -> files().fileCount(cluster, fileSystem, missing));
        assertEquals(0, files().writtenBytes(cluster, fileSystem, missing));
        assertThrows(DriverException.NotFound.class, () -> files().dataDirectory(cluster, fileSystem, missing));
        assertThrows(
                DriverException.NotFound.class,
                () -> files().dataDirectory(cluster, fileSystem, data),
                "a data directory has none below it");
    }

    @Test
    final void theDataDirectoryIsFoundInTheSubvolumeAndInItsSnapshots() {
        subvolumes().createSnapshot(snapshot);
        assertEquals(data, files().dataDirectory(cluster, fileSystem, home));
        String uuid = data.substring(data.lastIndexOf('/') + 1);
        String inSnapshot = files().dataDirectory(cluster, fileSystem, home + "/.snap/s-one");
        assertEquals(home + "/.snap/s-one/" + uuid, inSnapshot);
        files().setQuotaBytes(cluster, fileSystem, data, 2 * SIZE);
        assertEquals(
                OptionalLong.of(SIZE),
                files().quotaBytes(cluster, fileSystem, inSnapshot),
                "a snapshot keeps the quota of its moment");
        subvolumes().remove(volume);
        assertEquals(inSnapshot, files().dataDirectory(cluster, fileSystem, home + "/.snap/s-one"));
    }

    @Test
    final void theLayoutSaysWhereObjectsAreInTheSubvolumeAndInItsSnapshots() {
        subvolumes().createSnapshot(snapshot);
        Subvolumes.Subvolume found = subvolumes().find(volume).orElseThrow();
        FileTree.Layout expected = new FileTree.Layout(found.dataPool(), found.poolNamespace());
        assertFalse(expected.namespace().isEmpty());
        assertEquals(expected, files().layout(cluster, fileSystem, data));
        String inSnapshot = files().dataDirectory(cluster, fileSystem, home + "/.snap/s-one");
        subvolumes().remove(volume);
        assertEquals(expected, files().layout(cluster, fileSystem, inSnapshot));
        assertThrows(DriverException.NotFound.class, () -> files().layout(cluster, fileSystem, data));
    }

    @Test
    final void aNoteStaysUntilItIsRemoved() {
        for (String path : List.of(group.path(), data)) {
            assertEquals(Optional.empty(), files().note(cluster, fileSystem, path, "tried"));
            for (String value : List.of("one", "another, of Zoë")) {
                files().setNote(cluster, fileSystem, path, "tried", value);
                assertEquals(Optional.of(value), files().note(cluster, fileSystem, path, "tried"));
            }
            assertEquals(Optional.empty(), files().note(cluster, fileSystem, path, "other"));
            files().setNote(cluster, fileSystem, path, "tried", "");
            assertEquals(Optional.empty(), files().note(cluster, fileSystem, path, "tried"));
        }
        String missing = group.path() + "/missing";
        assertEquals(Optional.empty(), files().note(cluster, fileSystem, missing, "tried"));
        assertThrows(
                DriverException.NotFound.class,
                () -> files().setNote(cluster, fileSystem, missing, "tried", "nothing"));
    }

    @Test
    final void aNewSubvolumeHoldsAtMostOneFile() {
        assertTrue(files().fileCount(cluster, fileSystem, home) <= 1);
    }

    @Test
    final void anEmptyTreeIsCopiedAndCopiedAgain() throws Exception {
        subvolumes().createSnapshot(snapshot);
        String from = files().dataDirectory(cluster, fileSystem, home + "/.snap/s-one");
        String to = create(target);
        for (int i = 0; i < 2; i++) {
            Copy copy = files().copy(cluster, fileSystem, from, to, 10_001, 10_001);
            copy.done().get(60, TimeUnit.SECONDS);
            assertEquals(0, copy.copiedBytes().sum());
        }
    }

    @Test
    final void aCopyFromNowhereFails() {
        Copy copy = files().copy(cluster, fileSystem, home + "/.snap/s-missing", data, 10_001, 10_001);
        var ended = assertThrows(ExecutionException.class, () -> copy.done().get(60, TimeUnit.SECONDS));
        assertTrue(ended.getCause() instanceof DriverException.NotFound, String.valueOf(ended.getCause()));
    }
}

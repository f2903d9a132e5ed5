package dev.siphon.controller.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.Subvolumes.CloneProgress.Stage;
import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.controller.volume.Subvolumes.Subvolume.State;
import dev.siphon.controller.volume.Subvolumes.SubvolumeSpec;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The contract of [Subvolumes], for the adapter and the fake.
public abstract class SubvolumesContract {
    private static final long MIB = 1L << 20;
    private static final long SIZE = 64 * MIB;

    private final String cluster;
    private final String fileSystem;
    private final SubvolumeGroup group;
    private final VolumeId.Provisioned volume;
    private final VolumeId.Provisioned target;
    private final SnapshotId snapshot;

    /// @param cluster a cluster to test with
    /// @param fileSystem a file system of that cluster
    protected SubvolumesContract(String cluster, String fileSystem) {
        this.cluster = cluster;
        this.fileSystem = fileSystem;
        group = new SubvolumeGroup(cluster, fileSystem, "acontract");
        volume = group.volume("v-one");
        target = group.volume("c-two");
        snapshot = new SnapshotId(volume, "s-one");
    }

    protected abstract Subvolumes subvolumes();

    /// Sets the minimum duration of clones started from now on; initially [Clones#TAKES].
    protected abstract void clonesTake(Duration least);

    @BeforeEach
    final void haveTheGroup() {
        subvolumes().createGroup(group, OptionalLong.empty(), Optional.empty());
    }

    @AfterEach
    final void leaveNothing() {
        for (String name : subvolumes().list(group).orElse(List.of())) {
            VolumeId.Provisioned left = group.volume(name);
            subvolumes()
                    .cloneProgress(left)
                    .filter(clone -> clone.stage() == Stage.RUNNING)
                    .ifPresent(_ -> {
                        subvolumes().cancelClone(left);
                        awaitClone(left);
                    });
            Clones.untilDone(() -> subvolumes().remove(left));
        }
        for (String name : subvolumes().list(group).orElse(List.of())) {
            VolumeId.Provisioned left = group.volume(name);
            subvolumes()
                    .snapshots(left)
                    .forEach(each -> Clones.untilDone(() -> subvolumes().removeSnapshot(new SnapshotId(left, each))));
        }
        // Ceph 18 removes the rest of a subvolume only after it has purged the content
        Clones.untilDone(() -> {
            if (!subvolumes().list(group).equals(Optional.of(List.of()))) {
                throw new DriverException.OperationPending(
                        "left: " + subvolumes().list(group));
            }
        });
    }

    private void create() {
        subvolumes().create(volume, spec());
    }

    private static SubvolumeSpec spec() {
        return new SubvolumeSpec(OptionalLong.of(SIZE), 10_001, 10_002, 0750, Optional.empty());
    }

    private Subvolume found(VolumeId.Provisioned id) {
        return subvolumes().find(id).orElseThrow();
    }

    private State state(VolumeId.Provisioned id) {
        return found(id).state();
    }

    private Clones clones() {
        return new Clones(subvolumes(), snapshot, this::clonesTake);
    }

    private Stage awaitClone(VolumeId.Provisioned id) {
        return clones().await(id);
    }

    @Test
    final void aGroupIsMadeOnceAndListed() {
        subvolumes().createGroup(group, OptionalLong.empty(), Optional.empty());
        assertTrue(subvolumes().groups(cluster, fileSystem).contains(group.name()));
        assertEquals(Optional.of(List.of()), subvolumes().list(group));
    }

    @Test
    final void aGroupHasTheQuotaItWasGivenLast() {
        SubvolumeGroup limited = new SubvolumeGroup(cluster, fileSystem, "acontract-limited");
        subvolumes().createGroup(limited, OptionalLong.of(2 * SIZE), Optional.empty());
        subvolumes().createGroup(limited, OptionalLong.of(3 * SIZE), Optional.empty());
        assertEquals(
                OptionalLong.of(3 * SIZE),
                subvolumes().groupUsage(limited).orElseThrow().quotaBytes());
        assertEquals(
                OptionalLong.empty(),
                subvolumes().groupUsage(group).orElseThrow().quotaBytes());
    }

    @Test
    final void ofAGroupThatIsNotThereNothingIsListed() {
        SubvolumeGroup missing = new SubvolumeGroup(cluster, fileSystem, "amissing");
        assertEquals(Optional.empty(), subvolumes().list(missing));
        assertEquals(Optional.empty(), subvolumes().groupUsage(missing));
        assertThrows(DriverException.NotFound.class, () -> subvolumes().create(missing.volume("v-one"), spec()));
        assertEquals(Optional.empty(), subvolumes().find(missing.volume("v-one")));
    }

    @Test
    final void aNewSubvolumeIsWhatItWasMadeAs() {
        create();
        Subvolume made = found(volume);
        assertEquals(State.READY, made.state());
        assertEquals(OptionalLong.of(SIZE), made.quotaBytes());
        assertEquals(10_001, made.uid());
        assertEquals(10_002, made.gid());
        assertEquals(0750, made.mode());
        assertEquals(0, made.usedBytes());
        assertFalse(made.poolNamespace().isEmpty());
        assertFalse(made.dataPool().isEmpty());
        assertTrue(made.dataPath().orElseThrow().startsWith("/volumes/acontract/v-one/"));
        assertEquals(Optional.of(List.of("v-one")), subvolumes().list(group));
    }

    @Test
    final void whatIsNotThereIsNotFound() {
        assertEquals(Optional.empty(), subvolumes().find(volume));
        assertEquals(Optional.empty(), subvolumes().findSnapshot(snapshot));
        assertEquals(Optional.empty(), subvolumes().cloneProgress(volume));
        assertEquals(List.of(), subvolumes().snapshots(volume));
        assertThrows(DriverException.NotFound.class, () -> subvolumes().resize(volume, SIZE));
        assertThrows(DriverException.NotFound.class, () -> subvolumes().notes(volume));
        assertThrows(DriverException.NotFound.class, () -> subvolumes().setNote(volume, "siphon.a", "b"));
        assertThrows(DriverException.NotFound.class, () -> subvolumes().createSnapshot(snapshot));
        assertThrows(DriverException.NotFound.class, () -> subvolumes().startClone(snapshot, target));
        subvolumes().remove(volume);
        subvolumes().removeNote(volume, "siphon.a");
        subvolumes().removeSnapshot(snapshot);
        subvolumes().cancelClone(target);
    }

    @Test
    final void createOverAnExistingOneChangesItsSizeWithoutAWord() {
        create();
        String path = found(volume).dataPath().orElseThrow();
        subvolumes()
                .create(volume, new SubvolumeSpec(OptionalLong.of(2 * SIZE), 10_001, 10_002, 0750, Optional.empty()));
        assertEquals(OptionalLong.of(2 * SIZE), found(volume).quotaBytes());
        assertEquals(path, found(volume).dataPath().orElseThrow());
    }

    @Test
    final void resizeGoesUpAndDownAndMayBeRepeated() {
        create();
        for (long size : new long[] {2 * SIZE, 2 * SIZE, SIZE / 2}) {
            subvolumes().resize(volume, size);
            assertEquals(OptionalLong.of(size), found(volume).quotaBytes());
        }
    }

    @Test
    final void removeMayBeRepeated() {
        create();
        subvolumes().remove(volume);
        assertEquals(Optional.empty(), subvolumes().find(volume));
        subvolumes().remove(volume);
        assertEquals(Optional.of(List.of()), subvolumes().list(group));
    }

    @Test
    final void snapshotsOutliveTheirSubvolumeAndTakeItAlongWhenTheLastOneGoes() {
        create();
        SnapshotId second = new SnapshotId(volume, "s-two");
        subvolumes().createSnapshot(snapshot);
        subvolumes().createSnapshot(second);
        subvolumes().remove(volume);
        assertEquals(State.RETAINED, state(volume));
        assertEquals(Optional.of(List.of("v-one")), subvolumes().list(group));
        assertEquals(List.of("s-one", "s-two"), subvolumes().snapshots(volume));
        assertTrue(subvolumes().findSnapshot(snapshot).isPresent());
        assertThrows(DriverException.NotFound.class, () -> subvolumes().resize(volume, SIZE));
        assertThrows(DriverException.NotFound.class, () -> subvolumes().createSnapshot(new SnapshotId(volume, "s-3")));
        subvolumes().remove(volume);
        subvolumes().removeSnapshot(snapshot);
        assertEquals(State.RETAINED, state(volume));
        subvolumes().removeSnapshot(second);
        assertEquals(Optional.empty(), subvolumes().find(volume));
        assertEquals(Optional.of(List.of()), subvolumes().list(group));
    }

    @Test
    final void aRemovedSubvolumeCanBeMadeAgainBesideItsSnapshots() {
        create();
        String path = found(volume).dataPath().orElseThrow();
        subvolumes().setNote(volume, "siphon.a", "b");
        subvolumes().createSnapshot(snapshot);
        subvolumes().remove(volume);
        Clones.untilDone(this::create);
        assertEquals(State.READY, state(volume));
        assertNotEquals(path, found(volume).dataPath().orElseThrow());
        assertEquals(Map.of(), subvolumes().notes(volume), "notes go with what they were about");
        assertEquals(List.of("s-one"), subvolumes().snapshots(volume));
    }

    @Test
    final void notesAreKeptOverwrittenAndRemoved() {
        create();
        assertEquals(Map.of(), subvolumes().notes(volume));
        subvolumes().setNote(volume, "siphon.a", "1");
        subvolumes().setNote(volume, "siphon.b", "s1:lab:fs:a:v@s|true");
        subvolumes().setNote(volume, "csi.storage.k8s.io/pvc/name", "of others");
        subvolumes().setNote(volume, "siphon.a", "2");
        assertEquals(
                Map.of("siphon.a", "2", "siphon.b", "s1:lab:fs:a:v@s|true"),
                subvolumes().notes(volume));
        subvolumes().removeNote(volume, "siphon.a");
        subvolumes().removeNote(volume, "siphon.a");
        assertEquals(Map.of("siphon.b", "s1:lab:fs:a:v@s|true"), subvolumes().notes(volume));
    }

    @Test
    final void aSnapshotIsTakenOnceAndRemovedOnce() {
        create();
        subvolumes().createSnapshot(snapshot);
        Subvolumes.Snapshot taken = subvolumes().findSnapshot(snapshot).orElseThrow();
        subvolumes().createSnapshot(snapshot);
        assertEquals(taken, subvolumes().findSnapshot(snapshot).orElseThrow());
        assertEquals(Set.of(), taken.pendingClones());
        assertEquals(found(volume).dataPool(), taken.dataPool());
        assertEquals(List.of("s-one"), subvolumes().snapshots(volume));
        subvolumes().removeSnapshot(snapshot);
        assertEquals(Optional.empty(), subvolumes().findSnapshot(snapshot));
        subvolumes().removeSnapshot(snapshot);
        assertEquals(State.READY, state(volume));
    }

    @Test
    final void the101stSnapshotIsTooMany() {
        create();
        for (int i = 0; i < 100; i++) {
            subvolumes().createSnapshot(new SnapshotId(volume, "s-" + i));
        }
        assertThrows(DriverException.QuotaExhausted.class, () -> subvolumes().createSnapshot(snapshot));
        subvolumes().createSnapshot(new SnapshotId(volume, "s-8"));
        assertEquals(100, subvolumes().snapshots(volume).size());
        subvolumes().removeSnapshot(new SnapshotId(volume, "s-7"));
        subvolumes().createSnapshot(snapshot);
    }

    @Test
    final void aCloneHasTheOwnerAndSizeOfItsSource() {
        create();
        subvolumes().createSnapshot(snapshot);
        subvolumes().startClone(snapshot, target);
        assertEquals(Stage.COMPLETE, awaitClone(target));
        Subvolume made = found(target);
        assertEquals(State.READY, made.state());
        assertEquals(OptionalLong.of(SIZE), made.quotaBytes());
        assertEquals(10_001, made.uid());
        assertEquals(10_002, made.gid());
        assertEquals(found(volume).poolNamespace(), made.poolNamespace(), "why clones stay within one account");
        Clones.untilDone(() -> subvolumes().removeSnapshot(snapshot));
        subvolumes().cancelClone(target);
        assertEquals(State.READY, state(target), "cancelling a clone that has ended changes nothing");
    }

    @Test
    final void whileACloneRunsItsSourceAndTargetStay() {
        create();
        clones().look(target, () -> {
            assertEquals(State.CLONING, state(target));
            assertEquals(Set.of(target.subvolume()), clones().pending());
            assertThrows(
                    DriverException.OperationPending.class, () -> subvolumes().removeSnapshot(snapshot));
            assertThrows(
                    DriverException.OperationPending.class, () -> subvolumes().remove(target));
            assertThrows(
                    DriverException.IncompatibleExisting.class,
                    () -> subvolumes().startClone(snapshot, target));
        });
        assertEquals(Stage.COMPLETE, awaitClone(target));
    }

    @Test
    final void aCancelledCloneIsLeftToBeRemoved() {
        create();
        subvolumes().createSnapshot(snapshot);
        subvolumes().startClone(snapshot, target);
        subvolumes().cancelClone(target);
        assertEquals(Stage.CANCELLED, awaitClone(target));
        assertEquals(State.CLONE_ENDED_BADLY, state(target));
        subvolumes().remove(target);
        assertEquals(Optional.empty(), subvolumes().find(target));
        Clones.untilDone(() -> subvolumes().removeSnapshot(snapshot));
    }

    @Test
    final void aSnapshotCanBeClonedWhenItsSubvolumeIsGone() {
        create();
        subvolumes().createSnapshot(snapshot);
        subvolumes().remove(volume);
        subvolumes().startClone(snapshot, target);
        assertEquals(Stage.COMPLETE, awaitClone(target));
        assertEquals(OptionalLong.of(SIZE), found(target).quotaBytes());
        Clones.untilDone(() -> subvolumes().removeSnapshot(snapshot));
        assertEquals(Optional.empty(), subvolumes().find(volume));
    }

    @Test
    final void aPoolHasRoom() {
        assertTrue(subvolumes().availableBytes(cluster, fileSystem, Optional.empty()) > SIZE);
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> subvolumes().availableBytes(cluster, fileSystem, Optional.of("no-such-pool")));
    }

    @Test
    final void nothingIsTakenForGoneInAClusterThatNobodyConfigured() {
        VolumeId.Provisioned elsewhere = new VolumeId.Provisioned("nowhere", fileSystem, group.name(), "v-one");
        assertThrows(DriverException.InUse.class, () -> subvolumes().find(elsewhere));
        assertThrows(DriverException.InUse.class, () -> subvolumes().remove(elsewhere));
        assertThrows(DriverException.InUse.class, () -> subvolumes().notes(elsewhere));
        assertThrows(DriverException.InUse.class, () -> subvolumes().snapshots(elsewhere));
        assertThrows(
                DriverException.InUse.class, () -> subvolumes().removeSnapshot(new SnapshotId(elsewhere, "s-one")));
    }
}

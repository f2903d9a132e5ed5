package dev.siphon.controller.seal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.dataset.DatasetReaders;
import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.controller.dataset.FrozenAccounts;
import dev.siphon.controller.dataset.ReaderNames;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.key.NoSessions;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.offboard.Freezer;
import dev.siphon.controller.volume.AllowanceLedger;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.controller.volume.Owners.OwnerRule;
import dev.siphon.controller.volume.SnapshotClass.Modes;
import dev.siphon.controller.volume.SnapshotClass.Sealing;
import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.controller.volume.SnapshotView;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

final class SealedSnapshotsTest {
    private final SealWorld world = new SealWorld();
    private final List<String> before = world.ceph.everything();

    @Test
    void theFirstAnswerTellsTheIdAndBeginsNothing() {
        SnapshotView first = world.ask();
        assertFalse(first.ready());
        assertFalse(world.ceph.hasDirectory(world.place(first.id()).path()));
        world.sealed.delete(first.id());
        assertEquals(before, world.ceph.everything());
    }

    @Test
    void aSnapshotIsReadyOnceItsImageIsWholeAndDeclared() {
        SnapshotId id = world.ask().id();
        for (int i = 0; i < 3; i++) {
            assertFalse(world.ask().ready());
            assertFalse(world.domain.snapshots().find(id).orElseThrow().ready());
            assertEquals(Map.of(), world.cluster.declared);
        }
        assertEquals(Set.of(world.place(id).packer()), world.cluster.packers.keySet());
        PackOrder order = world.cluster.orders.values().iterator().next();
        assertTrue(order.source().context().readOnly());
        assertEquals(world.place(id).source(), order.source().id());
        assertEquals(world.place(id).path(), ((VolumeId.Static) order.target().id()).path());
        world.pack(id);
        assertTrue(world.ask().ready());
        assertTrue(world.domain.snapshots().find(id).orElseThrow().ready());
        Dataset dataset = world.cluster.declared.get("u1.imagenet-v1");
        assertEquals(
                new Dataset(
                        "u1.imagenet-v1",
                        Optional.of(id.volume().cluster()),
                        id.volume().fileSystem(),
                        world.place(id).path(),
                        SealWorld.MANIFEST.root(),
                        5000,
                        Set.of("u1")),
                dataset);
        assertEquals(Map.of(), world.cluster.packers);
        assertEquals(2, world.ceph.everything().size(), "the volume and its snapshot");
        assertTrue(world.minted.removed.contains(
                "siphon-packer.fs." + world.place(id).name()));
        world.cluster.declared.clear();
        assertTrue(world.ask().ready());
        assertEquals(Map.of(), world.cluster.declared, "what an administrator has taken back stays so");
        assertEquals(
                List.of("DatasetBeingSealed", "DatasetSealed"),
                world.cluster.told.stream()
                        .map(SealingCluster.Notice::reason)
                        .distinct()
                        .toList());
    }

    @Test
    void otherModesMakeAnotherSnapshot() {
        SnapshotId readable = world.ask().id();
        Sealing preserving = new Sealing(Modes.PRESERVED, new SnapshotRequest("u1", "imagenet-v1"));
        assertFalse(readable.equals(
                world.sealed.create(world.volume, "snapshot-1", preserving).id()));
    }

    @Test
    void cutOffAnywhereARetryFinishesIt() {
        int calls = 0;
        for (boolean cut = true; cut; calls++) {
            SealWorld mine = new SealWorld();
            mine.callsLeft = calls;
            cut = isCut(mine, () -> {
                assertTrue(mine.seal().ready());
            });
            mine.restart();
            SnapshotView done = mine.ask();
            while (!done.ready()) {
                if (mine.ceph.hasDirectory(mine.place(done.id()).path())) {
                    mine.pack(done.id());
                }
                done = mine.ask();
            }
            assertEquals(Set.of("u1.imagenet-v1"), mine.cluster.declared.keySet());
            assertEquals(Map.of(), mine.cluster.packers);
            assertEquals(2, mine.ceph.everything().size(), "after " + calls + " calls");
        }
        assertTrue(calls > 30, calls + " calls");
    }

    @Test
    void cutOffAnywhereARetryDeletesIt() {
        int calls = 0;
        for (boolean cut = true; cut; calls++) {
            SealWorld mine = new SealWorld();
            SnapshotId id = mine.seal().id();
            mine.callsLeft = calls;
            cut = isCut(mine, () -> mine.sealed.delete(id));
            mine.restart();
            for (int i = 0; i < 2; i++) {
                mine.sealed.delete(id);
            }
            assertEquals(Map.of(), mine.cluster.declared);
            assertEquals(1, mine.ceph.everything().size(), "after " + calls + " calls");
            assertFalse(mine.ceph.hasDirectory(mine.place(id).path()));
        }
        assertTrue(calls > 5, calls + " calls");
    }

    private static boolean isCut(SealWorld world, Runnable action) {
        try {
            action.run();
            return false;
        } catch (SealWorld.Killed _) {
            return world.callsLeft == 0;
        }
    }

    @Test
    void whatIsInUseIsNotDeleted() {
        SnapshotId id = world.seal().id();
        VolumeId.DatasetVolume shown = new VolumeId.DatasetVolume(
                        id.volume().cluster(),
                        id.volume().fileSystem(),
                        SealWorld.MANIFEST.root().beginning(),
                        Optional.empty(),
                        world.place(id).path())
                .forUse("0123456789av");
        world.minted.kept.put(shown, Optional.of(new VolumeKey("siphon-dataset.x", "key")));
        String said = assertThrows(DriverException.InUse.class, () -> world.sealed.delete(id))
                .getMessage();
        assertTrue(said.contains(shown.toString()), said);
        assertEquals(said, world.cluster.told.getLast().message());
        assertTrue(world.domain.snapshots().find(id).orElseThrow().ready());
        assertEquals(Set.of("u1.imagenet-v1"), world.cluster.declared.keySet());
        world.minted.kept.clear();
        world.sealed.delete(id);
        assertEquals(before, world.ceph.everything());
    }

    @Test
    void deletionWaitsUntilAPackerHasStopped() {
        var _ = world.ask();
        SnapshotId id = world.ask().id();
        world.cluster.stopsAfter = 2;
        assertThrows(DriverException.OperationPending.class, () -> world.sealed.delete(id));
        assertTrue(world.ceph.hasDirectory(world.place(id).path()));
        world.sealed.delete(id);
        assertFalse(world.ceph.hasDirectory(world.place(id).path()));
        assertEquals(before, world.ceph.everything());
    }

    @Test
    void aNameThatIsTakenIsRefusedBeforeAnythingIsPacked() {
        SnapshotId id = world.seal().id();
        Sealing other = new Sealing(Modes.PRESERVED, new SnapshotRequest("u1", "imagenet-v1"));
        var _ = world.sealed.create(world.volume, "snapshot-2", other);
        assertThrows(
                DriverException.IncompatibleExisting.class,
                () -> world.sealed.create(world.volume, "snapshot-2", other));
        assertEquals(Map.of(), world.cluster.packers);
        world.sealed.delete(id);
        assertFalse(world.sealed.create(world.volume, "snapshot-2", other).ready());
        assertEquals(1, world.cluster.packers.size());
    }

    @Test
    void noNameCanBeReadAsAnotherAccounts() {
        Sealing dotted = new Sealing(Modes.READABLE, new SnapshotRequest("u1", "doe.imagenet"));
        var _ = world.sealed.create(world.volume, "dotted", dotted);
        String said = assertThrows(
                        DriverException.InUse.class, () -> world.sealed.create(world.volume, "dotted", dotted))
                .getMessage();
        assertTrue(said.contains("without dots"), said);
        assertEquals(Map.of(), world.cluster.packers);
    }

    @Test
    void aPackerThatFailsIsToldWithItsLastWords() {
        var _ = world.ask();
        var _ = world.ask();
        world.cluster.packers.replaceAll(
                (_, _) -> new PackerOutcome.Failed("/source/x changed while it was packed", false));
        String said = assertThrows(DriverException.InUse.class, world::ask).getMessage();
        assertTrue(said.contains("/source/x changed while it was packed"), said);
        world.cluster.packers.clear();
        assertFalse(world.ask().ready(), "it goes on when its Job is gone");
        assertEquals(1, world.cluster.packers.size());
    }

    @Test
    void readersGetTheDatasetAndWritersACopy() {
        SnapshotId id = world.ask().id();
        assertThrows(
                DriverException.OperationPending.class, () -> world.sealed.shownBy(SealWorld.reading(id, Map.of())));
        assertTrue(world.seal().ready());
        assertEquals(Optional.of("u1.imagenet-v1"), world.sealed.shownBy(SealWorld.reading(id, Map.of())));
        assertEquals(Optional.empty(), world.sealed.shownBy(SealWorld.reading(id, Map.of("snapshotBacked", "false"))));
        world.cluster.declared.clear();
        assertThrows(DriverException.InUse.class, () -> world.sealed.shownBy(SealWorld.reading(id, Map.of())));
        world.sealed.delete(id);
        assertThrows(DriverException.NotFound.class, () -> world.sealed.shownBy(SealWorld.reading(id, Map.of())));
        SnapshotId plain =
                world.domain.snapshots().create(world.volume, "plain").id();
        assertEquals(Optional.empty(), world.sealed.shownBy(SealWorld.reading(plain, Map.of())));
    }

    private DatasetVolumes datasets() {
        CephPorts ports = world.ceph.ports();
        return new DatasetVolumes(
                ports.clusters(),
                world.cluster.datasets(),
                Optional.empty(),
                new DatasetReaders(
                        new NamespaceAccounts(Optional.of(OwnerRule.parse("namespace-prefix:user-")), Optional.empty()),
                        world.directory,
                        new FrozenAccounts(ports.clusters(), ports.files()),
                        new ReaderNames(world.cluster.datasets(), world.directory)),
                Optional.empty(),
                Optional.empty());
    }

    /// The source stays in the reply, and the volume is one of the dataset.
    @Test
    void aVolumeFromASealedSnapshotShowsItsDataset() {
        SnapshotId id = world.seal().id();
        Volumes volumes = world.domain.showing(datasets(), world.sealed).volumes();
        VolumeRequest reading = SealWorld.reading(
                id,
                Map.of(
                        "owner", "u1",
                        "csi.storage.k8s.io/pvc/namespace", "user-u1",
                        "csi.storage.k8s.io/pvc/name", "data"));
        List<String> there = world.ceph.everything();
        Volume shown = volumes.create(reading);
        assertEquals(
                world.place(id).path(),
                assertInstanceOf(VolumeId.DatasetVolume.class, shown.id()).path());
        assertEquals(reading.source(), shown.source());
        assertEquals(shown, volumes.create(reading));
        assertEquals(there, world.ceph.everything());

        VolumeRequest writing =
                new VolumeRequest("pvc-2", reading.capacity(), reading.parameters(), false, reading.source());
        world.ceph.clonesTake(0);
        assertInstanceOf(VolumeId.Provisioned.class, volumes.create(writing).id(), "a copy");
    }

    @Test
    void whatAFrozenAccountHasSealedIsGivenToNoNewClaim() {
        SnapshotId id = world.seal().id();
        CephPorts ports = world.ceph.ports();
        world.directory.put(new Account("u2", "id-2", 10_002, 10_002, Set.of("u2"), OptionalLong.empty()));
        world.cluster.declared.computeIfPresent("u1.imagenet-v1", (_, mine) -> mine.readBy(Set.of("u2")));
        DatasetVolumes volumes = datasets();
        VolumeRequest asking = SealWorld.reading(
                id, Map.of("csi.storage.k8s.io/pvc/namespace", "user-u2", "csi.storage.k8s.io/pvc/name", "data"));
        VolumeRequest claim =
                new VolumeRequest("pvc-1", asking.capacity(), asking.parameters(), true, Optional.empty());
        var _ = volumes.check(claim, "u1.imagenet-v1");

        Freezer freezer = new Freezer(ports, world.minted, Optional.empty(), Optional.empty(), new NoSessions());
        assertEquals(
                Optional.empty(), freezer.freeze(SubvolumeGroup.of(id.volume())).unfinished());
        String said = assertThrows(DriverException.InUse.class, () -> volumes.check(claim, "u1.imagenet-v1"))
                .getMessage();
        assertTrue(said.contains("that has sealed dataset u1.imagenet-v1 is frozen"), said);
        var _ = freezer.unfreeze(SubvolumeGroup.of(id.volume()));
        var _ = volumes.check(claim, "u1.imagenet-v1");
    }

    @Test
    void anAccountOfThatNameThatIsAnotherOneReadsNothing() {
        var _ = world.ask();
        SnapshotId id = world.ask().id();
        world.pack(id);
        world.directory.put(new Account("u1", "id-2", 10_009, 10_009, Set.of("u1"), OptionalLong.empty()));
        assertThrows(DriverException.InUse.class, world::ask);
        assertEquals(Map.of(), world.cluster.declared);
        world.sealed.delete(id);
        assertEquals(before, world.ceph.everything());
    }

    @Test
    void twoAtOnceDoItOnce() throws Exception {
        var _ = world.ask();
        List<Callable<String>> both = Collections.nCopies(8, () -> {
            try {
                return world.ask().id().toString();
            } catch (DriverException.OperationPending comeBack) {
                return "";
            }
        });
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<String> each : threads.invokeAll(both)) {
                String _ = each.get();
            }
        }
        SnapshotId id = world.ask().id();
        assertEquals(Set.of(world.place(id).packer()), world.cluster.packers.keySet());
        world.pack(id);
        assertTrue(world.ask().ready());
        assertEquals(2, world.ceph.everything().size());
    }

    @Test
    void theImageCountsAgainstTheAllowance() {
        long gib = 1L << 30;
        allow(gib + 16 + 4); // 16 more: the volume, the snapshot's file, and as much again for the image
        var _ = world.ask();
        SnapshotId id = world.ask().id();
        world.pack(id);
        assertTrue(world.ask().ready(), "nobody is refused for what was packed");
        world.restart();
        assertThrows(
                DriverException.QuotaExhausted.class,
                () -> world.domain.snapshots().create(world.volume, "another"));
        world.sealed.delete(id);
        var _ = world.domain.snapshots().create(world.volume, "another");
    }

    @Test
    void whatDoesNotFitTheAllowanceIsNotBegun() {
        allow((1L << 30) + 12);
        var _ = world.ask();
        assertThrows(DriverException.QuotaExhausted.class, world::ask);
        assertEquals(Map.of(), world.cluster.packers);
    }

    private void allow(long bytes) {
        world.directory.put(new Account("u1", "id-1", 10_001, 10_001, Set.of("u1"), OptionalLong.of(bytes)));
        world.ceph
                .ports()
                .files()
                .setQuotaBytes(
                        world.volume.cluster(),
                        world.volume.fileSystem(),
                        "/volumes/" + world.volume.group(),
                        AllowanceLedger.quota(bytes));
        world.restart();
    }
}

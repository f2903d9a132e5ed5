package dev.siphon.controller.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Clones;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Subvolumes;
import dev.siphon.controller.volume.Subvolumes.CloneProgress.Stage;
import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.controller.volume.Subvolumes.Subvolume.State;
import dev.siphon.controller.volume.Subvolumes.SubvolumeSpec;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CephSubvolumesIT {
    private static final long MIB = 1L << 20;
    private static final int CLONES = 4;
    private static final Duration QUICK = Duration.ofSeconds(15);
    private static final SubvolumeSpec SPEC =
            new SubvolumeSpec(OptionalLong.of(64 * MIB), 1234, 5678, 0700, Optional.empty());

    private FuseMount fuse;
    private CephAdapter adapter;
    private CephPorts ports;
    private Subvolumes subvolumes;
    private SubvolumeGroup group;
    private VolumeId.Provisioned volume;

    @BeforeAll
    void open() throws IOException {
        fuse = FuseMount.mount();
        adapter = CephLab.adapter();
        ports = adapter.ports();
        subvolumes = ports.subvolumes();
    }

    @AfterAll
    void close() throws IOException {
        adapter.close();
        fuse.close();
    }

    @BeforeEach
    void makeGroup() {
        group = new SubvolumeGroup(
                "lab",
                CephLab.fileSystem(),
                "it-" + UUID.randomUUID().toString().substring(0, 8));
        volume = group.volume("v1");
        subvolumes.createGroup(group, OptionalLong.of(1024 * MIB), Optional.empty());
    }

    /// Without [JournalFlush] this takes 25 to 45 s: each query of the mgr waits for the MDS, which writes its
    /// journal every 5 s.
    @Test
    void clonesAtOnceAndCommandsBesideThemAreQuick() throws Exception {
        List<VolumeId.Provisioned> volumes = IntStream.range(0, CLONES)
                .mapToObj(number -> group.volume("v" + number))
                .toList();
        for (VolumeId.Provisioned each : volumes) {
            subvolumes.create(each, SPEC);
            subvolumes.createSnapshot(new SnapshotId(each, "s"));
        }
        long began = System.nanoTime();
        try (ExecutorService callers = Executors.newFixedThreadPool(CLONES)) {
            List<Callable<Stage>> clones = volumes.stream()
                    .<Callable<Stage>>map(each -> () -> {
                        SnapshotId snapshot = new SnapshotId(each, "s");
                        VolumeId.Provisioned target = group.volume("of-" + each.subvolume());
                        subvolumes.startClone(snapshot, target);
                        var _ = subvolumes.find(each);
                        return new Clones(subvolumes, snapshot, _ -> {}).await(target);
                    })
                    .toList();
            for (Future<Stage> clone : callers.invokeAll(clones)) {
                assertEquals(Stage.COMPLETE, clone.get());
            }
        }
        Duration took = Duration.ofNanos(System.nanoTime() - began);

        assertTrue(took.compareTo(QUICK) < 0, CLONES + " clones at once took " + took);
        assertEquals(
                List.of(),
                subvolumes.groups("lab", CephLab.fileSystem()).stream()
                        .filter(name -> name.contains("flush"))
                        .toList());
    }

    @Test
    void aGroupHasItsQuotaAndRepeatingItIsSafe() {
        subvolumes.createGroup(group, OptionalLong.of(1024 * MIB), Optional.empty());
        assertEquals(
                OptionalLong.of(1024 * MIB),
                subvolumes.groupUsage(group).orElseThrow().quotaBytes());
        assertTrue(subvolumes.groups("lab", CephLab.fileSystem()).contains(group.name()));
        SubvolumeGroup none = new SubvolumeGroup("lab", CephLab.fileSystem(), "no-such-group");
        assertEquals(Optional.empty(), subvolumes.groupUsage(none));
        assertEquals(Optional.empty(), subvolumes.list(none));
    }

    @Test
    void aSubvolumeIsFoundAsItWasMade() {
        assertEquals(Optional.empty(), subvolumes.find(volume));
        subvolumes.create(volume, SPEC);
        Subvolume found = subvolumes.find(volume).orElseThrow();
        assertEquals(State.READY, found.state());
        assertTrue(found.dataPath().orElseThrow().matches(group.path() + "/v1/[0-9a-f-]{36}"));
        assertEquals(OptionalLong.of(64 * MIB), found.quotaBytes());
        assertEquals(List.of(1234, 5678, 0700), List.of(found.uid(), found.gid(), found.mode()));
        assertEquals(CephLab.fileSystem() + ".data", found.dataPool());
        assertTrue(found.poolNamespace().contains("v1"), found.poolNamespace());
        assertEquals(Optional.of(List.of("v1")), subvolumes.list(group));
    }

    @Test
    void aSubvolumeCanBeInAnotherPool() {
        String pool = CephLab.fileSystem() + ".data2";
        subvolumes.create(volume, new SubvolumeSpec(OptionalLong.empty(), 1, 1, 0755, Optional.of(pool)));
        Subvolume found = subvolumes.find(volume).orElseThrow();
        assertEquals(pool, found.dataPool());
        assertEquals(OptionalLong.empty(), found.quotaBytes());
        assertTrue(subvolumes.availableBytes("lab", CephLab.fileSystem(), Optional.of(pool)) > MIB);
        assertTrue(subvolumes.availableBytes("lab", CephLab.fileSystem(), Optional.empty()) > MIB);
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> subvolumes.availableBytes("lab", CephLab.fileSystem(), Optional.of("no-such-pool")));
    }

    @Test
    void withoutItsGroupNothingIsMade() {
        VolumeId.Provisioned orphan = new SubvolumeGroup("lab", CephLab.fileSystem(), "no-such-group").volume("v");
        assertThrows(DriverException.NotFound.class, () -> subvolumes.create(orphan, SPEC));
        assertEquals(Optional.empty(), subvolumes.find(orphan));
    }

    @Test
    void aClusterThatIsNotListedMeansNothingIsTakenForDeleted() {
        VolumeId.Provisioned elsewhere = new VolumeId.Provisioned("other", "fs", "g", "v");
        assertThrows(DriverException.InUse.class, () -> subvolumes.find(elsewhere));
        assertThrows(DriverException.InUse.class, () -> subvolumes.remove(elsewhere));
    }

    @Test
    void aFileSystemThatIsGoneMeansNothingIsTakenForDeleted() {
        VolumeId.Provisioned elsewhere = new VolumeId.Provisioned("lab", "nofs", "g", "v");
        assertThrows(DriverException.InUse.class, () -> subvolumes.find(elsewhere));
        assertThrows(DriverException.InUse.class, () -> subvolumes.remove(elsewhere));
    }

    @Test
    void aSubvolumeGrowsShrinksAndGoesAndGoesAgain() {
        subvolumes.create(volume, SPEC);
        subvolumes.resize(volume, 128 * MIB);
        assertEquals(
                OptionalLong.of(128 * MIB),
                subvolumes.find(volume).orElseThrow().quotaBytes());
        subvolumes.resize(volume, 32 * MIB);
        assertEquals(
                OptionalLong.of(32 * MIB), subvolumes.find(volume).orElseThrow().quotaBytes());
        subvolumes.remove(volume);
        subvolumes.remove(volume);
        assertEquals(Optional.empty(), subvolumes.find(volume));
        assertThrows(DriverException.NotFound.class, () -> subvolumes.resize(volume, MIB));
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"no .meta", "an empty .meta", "a .meta that is not one", "no data directory"})
    void whatTheMgrLeftHalfMadeIsBrokenAndCanBeRemovedAndMadeAnew(String half) throws IOException {
        Path base = fuse.at(group.path() + "/v1");
        Files.createDirectories(half.equals("no data directory") ? base : base.resolve(UUID.randomUUID() + ""));
        if (half.endsWith("empty .meta")) {
            Files.createFile(base.resolve(".meta"));
        } else if (half.endsWith("not one")) {
            Files.writeString(base.resolve(".meta"), "[GLO");
        }
        assertEquals(State.BROKEN, subvolumes.find(volume).orElseThrow().state());
        assertEquals(State.BROKEN, subvolumes.find(volume).orElseThrow().state());
        subvolumes.remove(volume);
        assertEquals(Optional.empty(), subvolumes.find(volume));
        subvolumes.create(volume, SPEC);
        assertEquals(State.READY, subvolumes.find(volume).orElseThrow().state());
    }

    @Test
    void notesAreKeptWhateverIsInThem() {
        subvolumes.create(volume, SPEC);
        assertEquals(Map.of(), subvolumes.notes(volume));
        Map<String, String> notes = Map.of(
                "siphon.plain", "s1:lab:fs:g:v",
                "siphon.Upper.CASE", "50% of %(all)s = ${x}",
                "siphon.lines", "one\ntwo\r\n\tthree ",
                "siphon.words", "Größe 漢字 \"quoted\" {json: [1]} ; # comment");
        notes.forEach((key, value) -> subvolumes.setNote(volume, key, value));
        assertEquals(notes, subvolumes.notes(volume));
        subvolumes.setNote(volume, "siphon.plain", "other");
        subvolumes.removeNote(volume, "siphon.lines");
        subvolumes.removeNote(volume, "siphon.lines");
        assertEquals("other", subvolumes.notes(volume).get("siphon.plain"));
        assertFalse(subvolumes.notes(volume).containsKey("siphon.lines"));
        assertThrows(DriverException.NotFound.class, () -> subvolumes.notes(group.volume("none")));
        assertThrows(DriverException.NotFound.class, () -> subvolumes.setNote(group.volume("none"), "siphon.a", "b"));
    }

    @Test
    void snapshotsOutliveTheirSubvolume() {
        SnapshotId snapshot = new SnapshotId(volume, "s1");
        assertEquals(Optional.empty(), subvolumes.findSnapshot(snapshot));
        assertEquals(List.of(), subvolumes.snapshots(volume));
        assertThrows(DriverException.NotFound.class, () -> subvolumes.createSnapshot(snapshot));
        subvolumes.create(volume, SPEC);
        subvolumes.createSnapshot(snapshot);
        subvolumes.createSnapshot(snapshot);
        assertEquals(Set.of(), subvolumes.findSnapshot(snapshot).orElseThrow().pendingClones());
        subvolumes.remove(volume);
        assertEquals(State.RETAINED, subvolumes.find(volume).orElseThrow().state());
        assertEquals(List.of("s1"), subvolumes.snapshots(volume));
        assertTrue(subvolumes.findSnapshot(snapshot).isPresent());
        assertThrows(DriverException.NotFound.class, () -> subvolumes.resize(volume, MIB));
        subvolumes.remove(volume);
        subvolumes.removeSnapshot(snapshot);
        subvolumes.removeSnapshot(snapshot);
        assertEquals(Optional.empty(), subvolumes.find(volume));
    }

    @Test
    void theHundredAndFirstSnapshotIsRefusedAsExhausted() {
        subvolumes.create(volume, SPEC);
        for (int i = 0; i < 100; i++) {
            subvolumes.createSnapshot(new SnapshotId(volume, "s" + i));
        }
        DriverException.QuotaExhausted error = assertThrows(
                DriverException.QuotaExhausted.class,
                () -> subvolumes.createSnapshot(new SnapshotId(volume, "one-more")));
        assertTrue(String.valueOf(error.getMessage()).contains("EMLINK"), error.getMessage());
    }

    @Test
    void aCloneRunsByItselfAndKeepsItsSnapshotUntilItHasEnded() {
        SnapshotId snapshot = new SnapshotId(volume, "s1");
        VolumeId.Provisioned target = group.volume("clone");
        subvolumes.create(volume, SPEC);
        assertEquals(Optional.empty(), subvolumes.cloneProgress(volume));
        assertEquals(Optional.empty(), subvolumes.cloneProgress(target));
        assertThrows(DriverException.NotFound.class, () -> subvolumes.startClone(snapshot, target));
        subvolumes.createSnapshot(snapshot);
        startClone(snapshot, target);
        assertThrows(DriverException.IncompatibleExisting.class, () -> subvolumes.startClone(snapshot, target));
        CephLab.await(
                Duration.ofSeconds(60),
                () -> subvolumes.cloneProgress(target).orElseThrow().stage() == Stage.COMPLETE);
        Subvolume found = subvolumes.find(target).orElseThrow();
        assertEquals(State.READY, found.state());
        assertEquals(OptionalLong.of(64 * MIB), found.quotaBytes());
        subvolumes.cancelClone(target);
        CephLab.await(
                Duration.ofSeconds(30),
                () -> subvolumes
                        .findSnapshot(snapshot)
                        .orElseThrow()
                        .pendingClones()
                        .isEmpty());
        subvolumes.removeSnapshot(snapshot);
    }

    @Test
    void aCloneThatRunsCannotBeRemovedButCancelledAndThenRemoved() throws IOException {
        SnapshotId snapshot = new SnapshotId(volume, "s1");
        VolumeId.Provisioned target = group.volume("clone");
        subvolumes.create(volume, SPEC);
        Path data = fuse.at(subvolumes.find(volume).orElseThrow().dataPath().orElseThrow());
        for (int i = 0; i < 500; i++) {
            Files.write(data.resolve("file" + i), "x".getBytes(StandardCharsets.US_ASCII));
        }
        subvolumes.createSnapshot(snapshot);
        startClone(snapshot, target);
        assertThrows(DriverException.OperationPending.class, () -> subvolumes.remove(target));
        assertEquals(State.CLONING, subvolumes.find(target).orElseThrow().state());
        assertThrows(DriverException.OperationPending.class, () -> subvolumes.removeSnapshot(snapshot));
        subvolumes.cancelClone(target);
        CephLab.await(
                Duration.ofSeconds(60),
                () -> subvolumes.cloneProgress(target).orElseThrow().stage() == Stage.CANCELLED);
        assertEquals(
                State.CLONE_ENDED_BADLY, subvolumes.find(target).orElseThrow().state());
        subvolumes.cancelClone(target);
        subvolumes.remove(target);
        assertEquals(Optional.empty(), subvolumes.find(target));
    }

    @Test
    void writesStopWhileQuiescedWhereTheClusterCan() throws IOException {
        subvolumes.create(volume, SPEC);
        Path data = fuse.at(subvolumes.find(volume).orElseThrow().dataPath().orElseThrow());
        Files.createFile(data.resolve("before"));
        String set = "set-" + group.name();
        boolean can = acquire(set, Duration.ofSeconds(20));
        assertEquals(CephLab.release() >= 19, can);
        if (can) {
            assertTrue(ports.quiesce().release(set, List.of(volume)));
            assertTrue(acquire(set, Duration.ofSeconds(1)));
            // blocks until the quiesce has expired
            Files.createFile(data.resolve("during"));
            assertFalse(ports.quiesce().release(set, List.of(volume)));
        }
    }

    private boolean acquire(String set, Duration expiration) {
        return ports.quiesce().acquire(set, List.of(volume), Duration.ofSeconds(10), expiration);
    }

    @Test
    void theClusterIsKnownAndWell() {
        assertEquals("lab", ports.clusters().defaultCluster());
        assertEquals(List.of("lab"), ports.clusters().ids());
        assertEquals(
                List.of(CephLab.fileSystem() + ".data", CephLab.fileSystem() + ".data2"),
                ports.clusters().fileSystems("lab").getFirst().dataPools());
        assertEquals(Optional.empty(), ports.clusters().trouble("lab", Duration.ofSeconds(10)));
    }

    /// Starts a clone when one of the mgr's cloner threads is free.
    private void startClone(SnapshotId snapshot, VolumeId.Provisioned target) {
        CephLab.await(Duration.ofSeconds(60), () -> {
            try {
                subvolumes.startClone(snapshot, target);
                return true;
            } catch (DriverException.BackendUnavailable _) {
                return false;
            }
        });
    }
}

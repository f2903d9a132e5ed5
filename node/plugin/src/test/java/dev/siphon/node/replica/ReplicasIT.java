package dev.siphon.node.replica;

import static dev.siphon.node.replica.ReplicaNode.FAST;
import static dev.siphon.node.replica.ReplicaNode.await;
import static dev.siphon.node.replica.ReplicaNode.awaitLocal;
import static dev.siphon.node.replica.ReplicaNode.awaitNoDevice;
import static dev.siphon.node.replica.ReplicaNode.awaitStatus;
import static dev.siphon.node.replica.ReplicaNode.devices;
import static dev.siphon.node.replica.ReplicaNode.settings;
import static dev.siphon.node.replica.ReplicaNode.status;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.linux.MountFlag;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Real loop devices and real EROFS, on the kernel that runs the test.
class ReplicasIT {
    private static final int FILE_BYTES = 100_000;

    private final Workplace workplace = Workplace.create();
    private final TestDataset dataset = TestDataset.create(workplace, "one", 90, FILE_BYTES);
    private final Path cache = workplace.path("cache");
    private Replicas replicas = start(settings(workplace, FAST));

    /// Returns what reads the images.
    ErofsSelection erofs() {
        return ErofsSelection.ofThisNode();
    }

    private Replicas start(ReplicaSettings settings) {
        return Replicas.start(ReplicaNode.with(erofs(), settings), new BackgroundTasks(), _ -> {});
    }

    @AfterEach
    void close() {
        replicas.close();
        workplace.close();
        awaitNoDevice(dataset.digest());
    }

    private void restart(ReplicaSettings settings) {
        replicas.close();
        replicas = start(settings);
    }

    @Test
    void aDatasetIsReadAtOnceAndFromItsReplicaLater() {
        ImageMount imageMount = replicas.attach(dataset.image());
        assertEquals(new ReadLocation.Remote(), imageMount.place());
        assertTrue(imageMount.directIo());
        assertEquals(512, readAheadKib(imageMount.tree()));
        assertTrue(dataset.isRight(imageMount.tree()));
        awaitLocal(replicas, dataset.digest(), cache);
        assertEquals(512, readAheadKib(imageMount.tree()));
        assertTrue(dataset.isRight(imageMount.tree()));
        ReplicaStatus status = status(replicas, dataset.digest()).orElseThrow();
        assertEquals(new ReplicaState.Local(cache), status.state());
        assertEquals(dataset.manifest().imageBytes(), status.bytes());
        assertEquals(Optional.empty(), status.problem());
        assertTrue(status.attached().orElseThrow().directIo());
        assertEquals(1, devices(dataset.digest()).size());
    }

    private static int readAheadKib(Path tree) {
        String device = MountTable.read().at(tree.toString()).orElseThrow().source();
        try {
            return Integer.parseInt(
                    Files.readString(Path.of("/sys/block", device.substring("/dev/".length()), "queue/read_ahead_kb"))
                            .strip());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void whatWasAttachedBeforeItsFillBeganIsFilledByTheNextRun() {
        restart(settings(workplace.path("state"), FAST));
        replicas.attach(dataset.image());
        restart(settings(workplace, FAST));
        awaitLocal(replicas, dataset.digest(), cache);
    }

    @Test
    void nobodyButTheDriverFindsFilesAndTheTreeIsReadOnly() throws IOException {
        Path tree = replicas.attach(dataset.image()).tree();
        awaitLocal(replicas, dataset.digest(), cache);
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(cache)));
        Path image = cache.resolve(dataset.digest().hex()).resolve("image");
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(image)));
        assertEquals(
                Set.of(MountFlag.READ_ONLY, MountFlag.NO_SUID, MountFlag.NO_DEV),
                MountTable.read().at(tree.toString()).orElseThrow().flags());
        assertTrue(devices(dataset.digest()).getFirst().readOnly());
        assertTrue(devices(dataset.digest()).getFirst().autoClear());
    }

    @Test
    void everyCallMayBeRepeated() {
        ImageMount first = replicas.attach(dataset.image());
        assertEquals(first.tree(), replicas.attach(dataset.image()).tree());
        replicas.warm(dataset.image());
        replicas.warm(dataset.image());
        awaitLocal(replicas, dataset.digest(), cache);
        replicas.pin(dataset.digest());
        replicas.pin(dataset.digest());
        assertTrue(status(replicas, dataset.digest()).orElseThrow().pinned());
        replicas.unpin(dataset.digest());
        replicas.unpin(dataset.digest());
        replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        replicas.evict(dataset.digest());
        replicas.evict(dataset.digest());
        assertEquals(List.of(), replicas.list());
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void nothingIsRememberedOfADatasetThatIsGone() {
        replicas.attach(dataset.image());
        awaitLocal(replicas, dataset.digest(), cache);
        assertEquals(Set.of(dataset.digest()), replicas.remembered());

        replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        replicas.evict(dataset.digest());

        await(() -> "it is forgotten", () -> replicas.remembered().isEmpty());
    }

    @Test
    void whatIsNotThereIsSaid() {
        assertThrows(DriverException.NotFound.class, () -> replicas.pin(dataset.digest()));
        DatasetImage nowhere = dataset.below(workplace.path("nowhere"));
        assertThrows(DriverException.BackendUnavailable.class, () -> replicas.attach(nowhere));
        TestDataset other = TestDataset.create(workplace, "two", 1, FILE_BYTES);
        DatasetImage mixed = new DatasetImage(
                dataset.digest(), dataset.image().image(), other.image().manifest());
        assertThrows(DriverException.BackendFault.class, () -> replicas.attach(mixed));
        DatasetImage otherImage = new DatasetImage(
                dataset.digest(), other.image().image(), dataset.image().manifest());
        assertThrows(DriverException.BackendFault.class, () -> replicas.attach(otherImage));
        assertEquals(List.of(), replicas.list());
        assertEquals(List.of(), workplace.mounts());
    }

    /// The kernel trusts the first blocks of what it mounts. This test changes one without an EROFS checksum.
    @Test
    void anImageThatDoesNotBeginAsItsManifestSaysIsNotMounted() {
        long place = Manifest.CHUNK_BYTES - 100;
        TestDataset.flip(dataset.image().image(), place);
        DriverException refused =
                assertThrows(DriverException.BackendFault.class, () -> replicas.attach(dataset.image()));
        assertTrue(String.valueOf(refused.getMessage()).contains("do not match its manifest"));
        assertEquals(List.of(), workplace.mounts());
        awaitNoDevice(dataset.digest());

        TestDataset.flip(dataset.image().image(), place);
        assertTrue(dataset.isRight(replicas.attach(dataset.image()).tree()));
    }

    @Test
    void whatIsReadIsNotDetached() throws IOException {
        Path tree = replicas.attach(dataset.image()).tree();
        try (InputStream open = Files.newInputStream(tree.resolve("file-1"))) {
            assertThrows(DriverException.InUse.class, () -> replicas.detach(ImageMountKey.anywhere(dataset.digest())));
            assertTrue(open.read() >= -1);
        }
        Path volume = workplace.directory("volume");
        dev.siphon.node.linux.Programs.run("mount", "--bind", tree.toString(), volume.toString());
        assertThrows(DriverException.InUse.class, () -> replicas.detach(ImageMountKey.anywhere(dataset.digest())));
        dev.siphon.node.linux.Programs.run("umount", volume.toString());
        replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        awaitNoDevice(dataset.digest());
        assertFalse(Files.exists(tree));
    }

    @Test
    void anEvictedDatasetIsReadOnFromItsImage() {
        Path tree = replicas.attach(dataset.image()).tree();
        awaitLocal(replicas, dataset.digest(), cache);
        replicas.pin(dataset.digest());
        assertThrows(DriverException.InUse.class, () -> replicas.evict(dataset.digest()));
        replicas.unpin(dataset.digest());
        replicas.evict(dataset.digest());
        ReplicaStatus status = status(replicas, dataset.digest()).orElseThrow();
        assertEquals(new ReplicaState.Remote(), status.state());
        assertEquals(new ReadLocation.Remote(), status.attached().orElseThrow().place());
        assertTrue(status.attached().orElseThrow().directIo());
        assertFalse(Files.exists(cache.resolve(dataset.digest().hex())));
        assertTrue(dataset.isRight(tree));
        replicas.warm(dataset.image());
        awaitLocal(replicas, dataset.digest(), cache);
    }

    @Test
    void whatIsAttachedSurvivesARestartAndIsCheckedFirst() {
        Path tree = replicas.attach(dataset.image()).tree();
        awaitLocal(replicas, dataset.digest(), cache);
        int device = devices(dataset.digest()).getFirst().number();
        restart(settings(workplace, FAST));
        awaitLocal(replicas, dataset.digest(), cache);
        assertEquals(device, devices(dataset.digest()).getFirst().number());
        assertEquals(tree, replicas.attach(dataset.image()).tree());
        replicas.evict(dataset.digest()); // this run can switch back to CephFS
        assertTrue(dataset.isRight(tree));
        replicas.detach(ImageMountKey.anywhere(dataset.digest()));
    }

    @Test
    void anUnattachedReplicaIsCheckedBeforeItIsUsed() {
        replicas.warm(dataset.image());
        awaitStatus(
                replicas,
                dataset.digest(),
                status -> status.map(ReplicaStatus::state).equals(Optional.of(new ReplicaState.Local(cache))));
        assertEquals(List.of(), devices(dataset.digest()));
        restart(settings(workplace, FAST));
        assertEquals(new ReadLocation.Remote(), replicas.attach(dataset.image()).place());
        awaitLocal(replicas, dataset.digest(), cache);
    }

    @Test
    void whatIsKnownFromAnEarlierRunIsWarmedBeforeItWasLookedFor() {
        // the state after a restart, without the thread that would soon check it
        new ImageMountDirectories(workplace.path("state"))
                .make(ImageMountKey.anywhere(dataset.digest()), dataset.image());
        replicas.warm(dataset.digest(), Duration.ofMinutes(1), _ -> {}, () -> false);
        assertEquals(
                new ReplicaState.Local(cache),
                status(replicas, dataset.digest()).orElseThrow().state());
    }

    @Test
    void whatWasUsedLongestAgoGoesFirstAndThePinnedStays() {
        List<TestDataset> four = new ArrayList<>();
        for (String name : List.of("a", "b", "c", "d")) {
            four.add(TestDataset.create(workplace, name, 45, FILE_BYTES));
        }
        long bytes = four.getFirst().manifest().imageBytes();
        restart(settings(workplace.path("state"), FAST, new CacheDirectoryLimits(cache, bytes * 7 / 2, 100)));
        for (TestDataset each : four.subList(0, 3)) {
            replicas.attach(each.image());
            awaitLocal(replicas, each.digest(), cache);
        }
        Path tree = replicas.attach(four.get(1).image()).tree();
        replicas.pin(four.getFirst().digest());
        replicas.detach(ImageMountKey.anywhere(four.getFirst().digest()));
        replicas.detach(ImageMountKey.anywhere(four.get(2).digest()));
        // c goes first: neither pinned nor attached. Then b, although attached, because nothing else is left
        replicas.attach(four.get(3).image());
        awaitLocal(replicas, four.get(3).digest(), cache);
        assertEquals(Optional.empty(), status(replicas, four.get(2).digest()));
        replicas.attach(dataset.image());
        awaitLocal(replicas, dataset.digest(), cache);
        assertEquals(
                new ReadLocation.Remote(),
                status(replicas, four.get(1).digest())
                        .flatMap(ReplicaStatus::attached)
                        .orElseThrow()
                        .place());
        assertTrue(four.get(1).isRight(tree));
        assertTrue(status(replicas, four.getFirst().digest()).orElseThrow().pinned());
        four.forEach(each -> replicas.detach(ImageMountKey.anywhere(each.digest())));
    }

    @Test
    void aDatasetThatFitsNowhereIsReadFromItsImage() {
        restart(settings(workplace.path("state"), FAST, new CacheDirectoryLimits(cache, 1 << 20, 100)));
        Path tree = replicas.attach(dataset.image()).tree();
        awaitStatus(
                replicas,
                dataset.digest(),
                status -> status.flatMap(ReplicaStatus::problem).isPresent());
        assertTrue(dataset.isRight(tree));
    }

    @Test
    void manyAttachesAndDetachesAtOnceEndWell() throws Exception {
        List<TestDataset> both = List.of(dataset, TestDataset.create(workplace, "two", 10, FILE_BYTES));
        List<Future<?>> calls = new ArrayList<>();
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 32; i++) {
                TestDataset one = both.get(i % 2);
                calls.add(
                        i % 4 < 2
                                ? callers.submit(() -> replicas.attach(one.image()))
                                : callers.submit(() -> replicas.detach(ImageMountKey.anywhere(one.digest()))));
            }
            for (Future<?> call : calls) {
                call.get();
            }
            calls.clear();
            for (int i = 0; i < 16; i++) {
                TestDataset one = both.get(i % 2);
                calls.add(callers.submit(() -> replicas.attach(one.image())));
            }
            for (Future<?> call : calls) {
                call.get();
            }
        }
        for (TestDataset one : both) {
            assertEquals(1, devices(one.digest()).size());
            awaitLocal(replicas, one.digest(), cache);
            replicas.detach(ImageMountKey.anywhere(one.digest()));
            awaitNoDevice(one.digest());
        }
    }
}

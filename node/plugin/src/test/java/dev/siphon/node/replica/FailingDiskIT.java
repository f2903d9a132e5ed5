package dev.siphon.node.replica;

import static dev.siphon.node.replica.ReplicaNode.FAST;
import static dev.siphon.node.replica.ReplicaNode.LIMIT;
import static dev.siphon.node.replica.ReplicaNode.await;
import static dev.siphon.node.replica.ReplicaNode.awaitLocal;
import static dev.siphon.node.replica.ReplicaNode.awaitNoDevice;
import static dev.siphon.node.replica.ReplicaNode.awaitStatus;
import static dev.siphon.node.replica.ReplicaNode.scrubbing;
import static dev.siphon.node.replica.ReplicaNode.settings;
import static dev.siphon.node.replica.ReplicaNode.status;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.node.linux.DataFile;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Full or failing disks under cache directories.
class FailingDiskIT {
    private static final long DISK_BYTES = 40 << 20;

    private final Workplace workplace = Workplace.create();
    private final TestDataset dataset = TestDataset.create(workplace, "one", 40, 400_000);
    private final Path disk = workplace.directory("disk");
    private final CacheDirectoryLimits bad = new CacheDirectoryLimits(disk.resolve("cache"), LIMIT, 100);
    private final CacheDirectoryLimits good = new CacheDirectoryLimits(workplace.path("good"), LIMIT, 100);

    @AfterEach
    void close() {
        workplace.close();
        awaitNoDevice(dataset.digest());
    }

    /// Starts replicas; they use the first directory that works.
    private Replicas start(ReplicaPolicy policy, CacheDirectoryLimits... caches) {
        return Replicas.start(
                new ReplicaSettings(
                        workplace.path("state"),
                        List.of(caches),
                        (_, _, candidates) ->
                                candidates.stream().findFirst().map(ReplicaPlacement.Candidate::directory),
                        policy,
                        GpuProximity.UNKNOWN,
                        ErofsSelection.ofThisNode()),
                new BackgroundTasks(),
                _ -> {});
    }

    @Test
    void aFullDiskIsNamedAndNobodysReadsSuffer() {
        Programs.run("mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", disk.toString());
        try (Replicas replicas = start(FAST, bad)) {
            Path tree = replicas.attach(dataset.image()).tree();
            awaitStatus(
                    replicas,
                    dataset.digest(),
                    status -> status.flatMap(ReplicaStatus::problem)
                            .filter(problem -> problem.contains("no cache directory has room")
                                    && problem.contains(bad.directory() + " has "))
                            .isPresent());
            assertTrue(dataset.isRight(tree));
            assertEquals(
                    new ReplicaState.Remote(),
                    status(replicas, dataset.digest()).orElseThrow().state());
            // space is freed, and the next retry uses it
            Programs.run("mount", "-o", "remount,size=64m", disk.toString());
            awaitLocal(replicas, dataset.digest(), bad.directory());
            assertTrue(dataset.isRight(tree));
            replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        }
    }

    @Test
    void whatDoesNotFitOnOneDiskGoesToAnother() {
        Programs.run("mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", disk.toString());
        try (Replicas replicas = start(FAST, bad, good)) {
            replicas.attach(dataset.image());
            awaitLocal(replicas, dataset.digest(), good.directory());
            assertTrue(replicas.cacheProblems().stream().allMatch(why -> why.contains(disk.toString())));
            replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        }
    }

    /// Another program writes to the same disk: the part still fits, but the record does not. Repeated many times,
    /// because chunks are written in parallel and a later one may find the part removed.
    @Test
    void aDiskThatGetsFullMeanwhileIsFullAndNotBroken() throws IOException {
        TestDataset large = TestDataset.create(workplace, "large", 120, 400_000);
        long size = Files.size(large.image().image()) + 2 * DataFile.ALIGNMENT;
        for (int run = 0; run < 100; run++) {
            Programs.run("mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", disk.toString());
            try (Replicas replicas = start(ReplicaPolicy.usual(), bad)) {
                Files.write(disk.resolve("other"), new byte[DataFile.ALIGNMENT]);
                replicas.warm(large.image());
                await(
                        () -> "a fill that fails",
                        () -> replicas.counts().failedFills().sum() > 0);
                List<String> problems = replicas.cacheProblems();
                assertTrue(problems.toString().contains("No space left"), problems::toString);
            }
            Programs.run("umount", "-l", disk.toString());
        }
    }

    /// The file below a file system is truncated and cannot grow again: from then on every read and write returns
    /// EIO.
    @Test
    void aDiskThatBreaksIsLeft() throws IOException {
        Path memory = workplace.directory("memory");
        Programs.run("mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", memory.toString());
        Path device = memory.resolve("device");
        try (RandomAccessFile file = new RandomAccessFile(device.toFile(), "rw")) {
            file.setLength(DISK_BYTES);
            Programs.run("mkfs.ext4", "-q", device.toString());
            Programs.run("mount", "-o", "loop", device.toString(), disk.toString());
            try (Replicas replicas = start(scrubbing(Duration.ofMillis(50)), bad, good)) {
                Path tree = replicas.attach(dataset.image()).tree();
                awaitLocal(replicas, dataset.digest(), bad.directory());
                file.setLength(0);
                Programs.run("fallocate", "--length", Long.toString(DISK_BYTES), memory + "/filler");
                TestDataset.dropCaches();
                await(
                        () -> replicas.cacheProblems().toString(),
                        () -> !replicas.cacheProblems().isEmpty());
                awaitLocal(replicas, dataset.digest(), good.directory());
                assertTrue(dataset.isRight(tree));
                assertEquals(
                        Optional.of(new ReadLocation.Local(good.directory())),
                        status(replicas, dataset.digest())
                                .flatMap(ReplicaStatus::attached)
                                .map(ImageMount::place));
                replicas.detach(ImageMountKey.anywhere(dataset.digest()));
            }
        }
    }

    /// The disk is not mounted: the directory is not created elsewhere, and is used once it exists.
    @Test
    void aDirectoryThatIsMissingIsNotMadeAndTakesNoOtherWithIt() throws IOException {
        CacheDirectoryLimits missing = new CacheDirectoryLimits(disk.resolve("cache"), LIMIT, 100, true);
        List<String> warnings = new CopyOnWriteArrayList<>();
        try (Replicas replicas = Replicas.start(
                settings(workplace.path("state"), FAST, missing, good), new BackgroundTasks(), warnings::add)) {
            Path tree = replicas.attach(dataset.image()).tree();
            awaitPlace(replicas, new ReadLocation.Local(good.directory()));
            assertTrue(dataset.isRight(tree));
            assertTrue(Files.notExists(missing.directory()));
            assertEquals(
                    "the cache directory " + missing.directory()
                            + " is missing: mount its disk, or make the directory there",
                    warnings.getFirst());
            Files.createDirectory(missing.directory());
            await(
                    () -> replicas.rooms().toString(),
                    () -> replicas.rooms().stream()
                            .anyMatch(room -> room.directory().equals(missing.directory())));
            assertEquals(
                    "rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(missing.directory())));
            assertEquals(Map.of(missing.directory(), true, good.directory(), true), replicas.readableCaches());
            replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        }
    }

    private static Optional<ReadLocation> place(Replicas replicas) {
        return replicas.attached().stream().map(ImageMount::place).findFirst();
    }

    /// Waits without access to a disk, which could meet the error.
    private static void awaitPlace(Replicas replicas, ReadLocation wanted) {
        await(
                () -> "not " + wanted + ": " + replicas.attached(),
                () -> place(replicas).equals(Optional.of(wanted)));
    }

    /// One disk; the next scrub is a day away.
    @Test
    void oneErrorThatAnybodyMeetsTakesReadersBackAndTheReplicaIsReadWholeBeforeItServesAgain() throws IOException {
        try (Replicas replicas = start(FAST, good)) {
            Path tree = replicas.attach(dataset.image()).tree();
            awaitPlace(replicas, new ReadLocation.Local(good.directory()));
            Path away = workplace.path("away");
            Files.move(good.directory(), away);
            Files.createFile(good.directory()); // the driver would create a missing directory
            replicas.list(); // meets the error
            awaitPlace(replicas, new ReadLocation.Remote());
            assertTrue(dataset.isRight(tree));
            TestDataset.flip(away.resolve(dataset.digest().hex()).resolve("image"), 17L << 12);
            Files.move(away, good.directory(), StandardCopyOption.REPLACE_EXISTING);
            awaitPlace(replicas, new ReadLocation.Local(good.directory()));
            TestDataset.dropCaches();
            assertTrue(dataset.isRight(tree));
            replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        }
    }

    /// The same, but only readers meet the error.
    @Test
    void aDiskThatFailsItsReadersIsLeftThoughNobodyLooks() throws IOException {
        Path memory = workplace.directory("memory");
        Programs.run("mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", memory.toString());
        Path device = memory.resolve("device");
        try (RandomAccessFile file = new RandomAccessFile(device.toFile(), "rw")) {
            file.setLength(DISK_BYTES);
            Programs.run("mkfs.ext4", "-q", device.toString());
            Programs.run("mount", "-o", "loop", device.toString(), disk.toString());
            try (Replicas replicas = start(ReplicaPolicy.usual(), bad)) {
                Path tree = replicas.attach(dataset.image()).tree();
                awaitPlace(replicas, new ReadLocation.Local(bad.directory()));
                file.setLength(0);
                TestDataset.dropCaches();
                awaitPlace(replicas, new ReadLocation.Remote());
                assertTrue(dataset.isRight(tree));
                assertTrue(replicas.cacheProblems()
                        .toString()
                        .contains(bad.directory().toString()));
                replicas.detach(ImageMountKey.anywhere(dataset.digest()));
            }
        }
    }
}

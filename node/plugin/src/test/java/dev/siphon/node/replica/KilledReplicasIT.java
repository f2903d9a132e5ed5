package dev.siphon.node.replica;

import static dev.siphon.node.replica.ReplicaNode.awaitLocal;
import static dev.siphon.node.replica.ReplicaNode.awaitNoDevice;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.node.linux.LoopStatus;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.replica.cache.CacheDirectory;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import dev.siphon.node.replica.cache.CachedReplica;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// SIGKILL at random moments of fill, swap and evict, each followed by a restart, under readers.
/// `-Dsiphon.kills=50` kills 50 times. In a guest of the lab the image is on CephFS, over the kernel client.
class KilledReplicasIT {
    private static final Logger LOG = LoggerFactory.getLogger(KilledReplicasIT.class);
    private static final int KILLS = Integer.getInteger("siphon.kills", 5);
    private static final long SEED = Long.getLong("siphon.seed", System.nanoTime());

    private final Workplace workplace = Workplace.create();
    private final TestDataset dataset = TestDataset.createRemote(workplace, "one", 60, 400_000);
    private final Path directory = workplace.directory("node");
    private final Path cache = directory.resolve("cache");
    private Optional<TreeReaders> readers = Optional.empty();

    @AfterEach
    void close() {
        readers.ifPresent(TreeReaders::close);
        workplace.close();
        awaitNoDevice(dataset.digest());
    }

    @Test
    void noKillHurtsAReaderOrLeavesAnything() throws Exception {
        Random random = new Random(SEED);
        int local = 0;
        long longestLife = 0;
        for (int i = 0; i < KILLS; i++) {
            ReplicaProcess process = ReplicaProcess.start(directory, dataset);
            ReplicaNode.await(
                    () -> "a process that is ready",
                    () -> Files.exists(directory.resolve("ready")) || !process.isAlive());
            if (readers.isEmpty()) {
                readers = Optional.of(read());
            }
            if (longestLife == 0) {
                longestLife = 2 * untilLocal();
            } else {
                LockSupport.parkNanos(random.nextLong(longestLife));
            }
            assertTrue(process.isAlive(), () -> "it ended by itself; seed " + SEED);
            process.kill();
            local += checkWhatIsLeft() ? 1 : 0;
        }
        endWell(readers.orElseThrow());
        LOG.info("{} rounds, {} of them ended on the replica", KILLS, local);
    }

    /// Waits until the tree is read from the replica, and returns the nanoseconds, which depend on the machine's
    /// load.
    private long untilLocal() {
        long start = System.nanoTime();
        ReplicaNode.await(() -> "a swap to the replica", this::isLocal);
        return System.nanoTime() - start;
    }

    private CachedReplica replica() {
        return new CacheDirectory(new CacheDirectoryLimits(cache, ReplicaNode.LIMIT, 100)).replica(dataset.digest());
    }

    private boolean isLocal() {
        return replica()
                .identity()
                .filter(ReplicaNode.devices(dataset.digest()).getFirst().backing()::equals)
                .isPresent();
    }

    /// Checks that, with no process running, the tree is read from the image or from a complete and correct
    /// replica.
    private boolean checkWhatIsLeft() throws IOException {
        List<LoopStatus> devices = ReplicaNode.devices(dataset.digest());
        assertEquals(1, devices.size(), () -> devices + "; seed " + SEED);
        assertTrue(devices.getFirst().directIo());
        if (Files.exists(replica().image())) {
            assertEquals(-1, Files.mismatch(dataset.image().image(), replica().image()), "seed " + SEED);
            if (isLocal()) {
                return true;
            }
        }
        assertEquals(
                Files.getAttribute(dataset.image().image(), "unix:ino"),
                devices.getFirst().backing().inode(),
                "seed " + SEED);
        return false;
    }

    private void endWell(TreeReaders readers) throws IOException {
        try (Replicas replicas = Replicas.start(ReplicaProcess.settings(directory), new BackgroundTasks(), _ -> {})) {
            Path tree = replicas.attach(dataset.image()).tree();
            awaitLocal(replicas, dataset.digest(), cache);
            assertTrue(dataset.isRight(tree));
            assertEquals(
                    Set.of("image", "manifest"),
                    names(cache.resolve(dataset.digest().hex())));
            replicas.evict(dataset.digest());
            readers.close();
            assertEquals(List.of(), readers.wrong(), "seed " + SEED);
            assertTrue(readers.reads() > KILLS);
            LOG.info("{} reads, 0 wrong", readers.reads());
            replicas.detach(ImageMountKey.anywhere(dataset.digest()));
            awaitNoDevice(dataset.digest());
            assertEquals(
                    List.of(),
                    workplace.mounts().stream()
                            .filter(point -> point.startsWith(directory + "/"))
                            .toList());
            assertEquals(Set.of(), names(cache));
            assertEquals(Set.of(), names(directory.resolve("state")));
        }
    }

    private static Set<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> String.valueOf(file.getFileName())).collect(Collectors.toSet());
        }
    }

    private TreeReaders read() throws IOException {
        Path tree =
                new ImageMountDirectories(directory.resolve("state")).tree(ImageMountKey.anywhere(dataset.digest()));
        return TreeReaders.start(dataset, tree, ReadingWay.BUFFERED, ReadingWay.DIRECT);
    }
}

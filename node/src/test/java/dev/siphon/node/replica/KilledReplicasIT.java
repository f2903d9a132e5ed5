package dev.siphon.node.replica;

import static dev.siphon.node.replica.ReplicaNode.awaitLocal;
import static dev.siphon.node.replica.ReplicaNode.awaitNoDevice;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.Workplace;
import dev.siphon.node.linux.LoopStatus;
import dev.siphon.node.replica.cache.CacheDirectory;
import dev.siphon.node.replica.cache.CacheLimits;
import dev.siphon.node.replica.cache.CachedReplica;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// SIGKILL at random moments of fill, swap and evict, and a restart each time, under a reader.
/// `-Dsiphon.kills=50` does it 50 times.
class KilledReplicasIT {
    private static final Logger LOG = LoggerFactory.getLogger(KilledReplicasIT.class);
    private static final int KILLS = Integer.getInteger("siphon.kills", 5);
    private static final long SEED = Long.getLong("siphon.seed", System.nanoTime());

    /// A round of fill, swap and evict takes about 400 ms there.
    private static final int LONGEST_LIFE_MILLIS = 900;

    private final Workplace workplace = Workplace.create();
    private final TestDataset dataset = TestDataset.create(workplace, "one", 60, 400_000);
    private final Path directory = workplace.directory("node");
    private final Path cache = directory.resolve("cache");
    private final AtomicLong reads = new AtomicLong();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private volatile boolean over;

    @AfterEach
    void close() {
        over = true;
        workplace.close();
        awaitNoDevice(dataset.digest());
    }

    @Test
    void noKillHurtsAReaderOrLeavesAnything() throws Exception {
        Random random = new Random(SEED);
        Thread reader = null;
        int local = 0;
        for (int i = 0; i < KILLS; i++) {
            ReplicaProcess process = ReplicaProcess.start(directory, dataset);
            ReplicaNode.await(
                    () -> "a process that is ready",
                    () -> Files.exists(directory.resolve("ready")) || !process.isAlive());
            if (reader == null) {
                reader = Thread.ofPlatform().daemon().start(this::read);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(LONGEST_LIFE_MILLIS)));
            assertTrue(process.isAlive(), () -> "it ended by itself; seed " + SEED);
            process.kill();
            local += checkWhatIsLeft() ? 1 : 0;
        }
        assertEquals(List.of(), List.copyOf(wrong), "seed " + SEED);
        assertTrue(reads.get() > KILLS);
        endWell();
        LOG.info("{} rounds, {} of them ended on the replica, {} reads, {} wrong", KILLS, local, reads, wrong.size());
    }

    /// What is behind the tree now that nobody looks after it is the image, or a replica that is whole and right.
    private boolean checkWhatIsLeft() throws IOException {
        List<LoopStatus> devices = ReplicaNode.devices(dataset.digest());
        assertEquals(1, devices.size(), () -> devices + "; seed " + SEED);
        assertTrue(devices.getFirst().directIo());
        CachedReplica replica =
                new CacheDirectory(new CacheLimits(cache, ReplicaNode.LIMIT, 100)).replica(dataset.digest());
        if (Files.exists(replica.image())) {
            assertEquals(-1, Files.mismatch(dataset.image().image(), replica.image()), "seed " + SEED);
            if (replica.identity().orElseThrow().equals(devices.getFirst().backing())) {
                return true;
            }
        }
        assertEquals(
                Files.getAttribute(dataset.image().image(), "unix:ino"),
                devices.getFirst().backing().inode(),
                "seed " + SEED);
        return false;
    }

    private void endWell() throws IOException {
        try (Replicas replicas = Replicas.start(ReplicaProcess.settings(directory))) {
            Path tree = replicas.attach(dataset.image()).tree();
            awaitLocal(replicas, dataset.digest(), cache);
            over = true;
            assertTrue(dataset.isRight(tree));
            assertEquals(
                    Set.of("image", "manifest"),
                    names(cache.resolve(dataset.digest().hex())));
            replicas.evict(dataset.digest());
            ReplicaNode.await(() -> "the reader's end", () -> {
                try {
                    replicas.detach(AttachmentKey.anywhere(dataset.digest()));
                    return true;
                } catch (dev.siphon.csi.DriverException.InUse _) {
                    return false;
                }
            });
            awaitNoDevice(dataset.digest());
            assertEquals(List.of(), workplace.mounts());
            assertEquals(Set.of(), names(cache));
            assertEquals(Set.of(), names(directory.resolve("state")));
        }
    }

    private static Set<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> String.valueOf(file.getFileName())).collect(Collectors.toSet());
        }
    }

    private void read() {
        Path tree = new AttachmentFolders(directory.resolve("state")).tree(AttachmentKey.anywhere(dataset.digest()));
        while (!over) {
            for (String name : dataset.names()) {
                try {
                    if (!dataset.isRight(name, ByteBuffer.wrap(Files.readAllBytes(tree.resolve(name))))) {
                        wrong.add(name);
                    }
                    reads.incrementAndGet();
                } catch (IOException | RuntimeException e) {
                    wrong.add(name + ": " + e);
                }
                if (over) {
                    return;
                }
            }
            TestDataset.dropCaches();
        }
    }
}

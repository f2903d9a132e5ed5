package dev.siphon.node.replica;

import static dev.siphon.node.replica.ReplicaNode.LIMIT;
import static dev.siphon.node.replica.ReplicaNode.await;
import static dev.siphon.node.replica.ReplicaNode.awaitNoDevice;
import static dev.siphon.node.replica.ReplicaNode.settings;
import static dev.siphon.node.replica.ReplicaNode.usual;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A node's only disk goes bad under readers, in a guest of the lab. The next scrub is a day away. The image is on
/// CephFS over the kernel client; device-mapper injects the disk errors. The limits are those of
/// docs/explanation/datasets.md.
@Tag("kernel")
class BadBlocksIT {
    private static final Logger LOG = LoggerFactory.getLogger(BadBlocksIT.class);

    /// Time limit to swap after an error that Siphon sees.
    private static final Duration SEEN = Duration.ofSeconds(1);

    /// Time limit to swap after an error that only readers see.
    private static final Duration UNSEEN = Duration.ofSeconds(2);

    /// Gives a test time to change the disk before the next retry.
    private static final Duration LEFT_ALONE = Duration.ofSeconds(15);

    private final Workplace workplace = Workplace.create();
    private final TestDataset dataset = TestDataset.createRemote(workplace, "one", 40, 400_000);
    private final DustyDisk disk = DustyDisk.create(workplace);
    private final CacheDirectoryLimits cache =
            new CacheDirectoryLimits(disk.mounted().resolve("cache"), LIMIT, 100);
    private final Path replica =
            cache.directory().resolve(dataset.digest().hex()).resolve("image");

    /// When each disk failure was reported, by System.nanoTime.
    private final List<Long> failures = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        workplace.close();
        awaitNoDevice(dataset.digest());
        disk.close();
    }

    private Replicas start(Duration leftAlone) {
        return Replicas.start(
                settings(workplace.path("state"), usual(leftAlone), cache),
                new BackgroundTasks(),
                _ -> failures.add(System.nanoTime()));
    }

    /// Waits until a tree is read from `wanted`, without access to a disk, and returns the time by System.nanoTime.
    private static long awaitPlace(Replicas replicas, ReadLocation wanted) {
        await(
                () -> "not " + wanted + ": " + replicas.attached() + " " + replicas.cacheProblems(),
                () -> replicas.attached().stream().map(ImageMount::place).anyMatch(wanted::equals));
        return System.nanoTime();
    }

    private long awaitLocal(Replicas replicas) {
        return awaitPlace(replicas, new ReadLocation.Local(cache.directory()));
    }

    private static void assertWithin(Duration limit, long from, long to, String what) {
        long millis = Duration.ofNanos(to - from).toMillis();
        LOG.info("{} ms from {} to the swap", millis, what);
        assertTrue(millis < limit.toMillis(), () -> millis + " ms from " + what);
    }

    private static void awaitReads(TreeReaders readers, long more) {
        long before = readers.reads();
        await(() -> "reads: " + readers.reads() + " after " + before, () -> readers.reads() >= before + more);
    }

    /// Checks that readers got only I/O errors and no wrong data.
    ///
    /// @return the number of errors until the swap
    private static int errors(TreeReaders readers) {
        awaitReads(readers, 20); // lets reads in progress finish
        List<String> errors = readers.wrong();
        errors.forEach(line -> assertTrue(line.contains("EIO") || line.contains("Input/output error"), line));
        return errors.size();
    }

    private void assertRight(Path tree, TreeReaders readers, int errors) {
        assertTrue(dataset.isRight(tree));
        awaitReads(readers, 20);
        assertEquals(errors, readers.wrong().size(), () -> readers.wrong().toString());
    }

    private TreeReaders read(Path tree) throws IOException {
        return TreeReaders.start(dataset, tree, ReadingWay.BUFFERED, ReadingWay.DIRECT);
    }

    private void breakOne() throws IOException {
        disk.breakAt(replica, Files.size(replica) / 2);
    }

    /// Damages a place that [#breakOne] does not touch.
    private void flipAnother() throws IOException {
        TestDataset.flip(replica, Files.size(replica) / 4);
    }

    @Test
    void aBlockThatReadersAloneMeetTakesThemBackAndTheReplicaIsReadWholeBeforeItServesAgain() throws IOException {
        try (Replicas replicas = start(LEFT_ALONE)) {
            Path tree = replicas.attach(dataset.image()).tree();
            awaitLocal(replicas);
            try (TreeReaders readers = read(tree)) {
                awaitReads(readers, 20);
                assertEquals(List.of(), readers.wrong());
                breakOne();
                await(() -> "an error", () -> !readers.wrong().isEmpty());
                long met = System.nanoTime();
                long back = awaitPlace(replicas, new ReadLocation.Remote());
                assertWithin(UNSEEN, met, back, "a reader's first error");
                assertWithin(SEEN, failures.getFirst(), back, "the first error that the driver saw");
                disk.mend();
                flipAnother();
                int errors = errors(readers);
                long again = awaitLocal(replicas);
                assertTrue(again - back > LEFT_ALONE.toNanos() / 2, "left alone");
                assertRight(tree, readers, errors);
                assertEquals(1, failures.size());
                assertEquals(2, replicas.counts().swapsToReplica().sum());
                assertEquals(1, replicas.counts().swapsToImage().sum());
            }
            replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        }
    }

    @Test
    void aDiskThatGoesOnFailingIsNotPutUnderReadersAgain() throws IOException {
        try (Replicas replicas = start(Duration.ofSeconds(2))) {
            Path tree = replicas.attach(dataset.image()).tree();
            awaitLocal(replicas);
            try (TreeReaders readers = read(tree)) {
                awaitReads(readers, 20);
                disk.breakAll();
                long back = awaitPlace(replicas, new ReadLocation.Remote());
                assertWithin(SEEN, failures.getFirst(), back, "the first error that the driver saw");
                int errors = errors(readers);
                // two retries failed
                await(() -> failures + " failures", () -> failures.size() == 3);
                assertRight(tree, readers, errors);
                assertEquals(1, replicas.counts().swapsToReplica().sum());
                assertEquals(1, replicas.counts().swapsToImage().sum());
                disk.mend();
                awaitLocal(replicas);
                assertRight(tree, readers, errors);
                assertEquals(2, replicas.counts().swapsToReplica().sum());
                assertEquals(1, replicas.counts().swapsToImage().sum());
            }
            replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        }
    }

    @Test
    void anErrorThatReadersMetWhileTheDriverWasAwayCountsWhenItStarts() throws IOException {
        Path tree;
        try (Replicas replicas = start(LEFT_ALONE)) {
            tree = replicas.attach(dataset.image()).tree();
            awaitLocal(replicas);
        }
        try (TreeReaders readers = read(tree)) {
            breakOne();
            await(() -> "an error", () -> !readers.wrong().isEmpty());
            assertTrue(errors(readers) > 0);
        }
        disk.mend();
        long start = System.nanoTime();
        try (Replicas replicas = start(LEFT_ALONE)) {
            assertWithin(UNSEEN, start, awaitPlace(replicas, new ReadLocation.Remote()), "the start");
            flipAnother();
            try (TreeReaders readers = read(tree)) {
                assertRight(tree, readers, 0);
                awaitLocal(replicas);
                assertRight(tree, readers, 0);
                assertEquals(1, failures.size());
                assertEquals(1, replicas.counts().swapsToReplica().sum());
                assertEquals(1, replicas.counts().swapsToImage().sum());
            }
            replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        }
    }

    @Test
    void aDiskThatFailsWhenTheDriverStartsIsLeftAtOnce() throws IOException {
        Path tree;
        try (Replicas replicas = start(LEFT_ALONE)) {
            tree = replicas.attach(dataset.image()).tree();
            awaitLocal(replicas);
        }
        disk.breakAll();
        long start = System.nanoTime();
        try (Replicas replicas = start(LEFT_ALONE)) {
            assertWithin(UNSEEN, start, awaitPlace(replicas, new ReadLocation.Remote()), "the start");
            assertTrue(dataset.isRight(tree));
            replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        }
    }
}

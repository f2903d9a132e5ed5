package dev.siphon.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.node.linux.LoopStatus;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Swaps the file behind a tree back and forth while processes read it in every way, and kills the swapping process
/// at random moments. `-Dsiphon.swaps=200` makes 200 swaps each way and 50 kills under at least 20,000 reads. The
/// default is a tenth. In a guest of the lab the image is on CephFS, over the kernel client.
class SwapUnderFireIT {
    private static final Logger LOG = LoggerFactory.getLogger(SwapUnderFireIT.class);
    private static final int SWAPS = Integer.getInteger("siphon.swaps", 20);
    private static final long READS = 100L * SWAPS;
    private static final int SWAPS_BEFORE_A_KILL = 4;
    private static final int KILLS = SWAPS / SWAPS_BEFORE_A_KILL;
    private static final long SEED = Long.getLong("siphon.seed", System.nanoTime());
    private static final int FILE_BYTES = 100_000;

    /// Upper limit of the delay before a kill; a swap takes a few milliseconds.
    private static final long LONGEST_LIFE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Workplace workplace = Workplace.create();
    private final TestDataset dataset = TestDataset.createRemote(workplace, "one", 300, FILE_BYTES);
    private final ImageMountKey key = ImageMountKey.anywhere(dataset.digest());
    private final Path state = workplace.path("state");
    private final Path replica = workplace.path("replica");
    private final ImageMounts imageMounts = new ImageMounts(new ImageMountDirectories(state), erofs());
    private final Random random = new Random(SEED);

    /// Returns what reads the image.
    ErofsSelection erofs() {
        return ErofsSelection.ofThisNode();
    }

    @AfterEach
    void close() {
        workplace.close();
        ReplicaNode.awaitNoDevice(dataset.digest());
    }

    @Test
    void noReaderNoticesASwapOrThatItWasCutShort() throws IOException {
        Files.copy(dataset.image().image(), replica);
        Path tree = imageMounts
                .attach(key, dataset.image(), dataset.image().readOutline())
                .tree();
        int swaps = 0;
        int kills = 0;
        int swapped = 0;
        try (TreeReaders readers = TreeReaders.start(dataset, tree, ReadingWay.values())) {
            while (readers.wrong().isEmpty() && (kills < KILLS || readers.reads() < READS)) {
                try (SwapProcess process = SwapProcess.start(state, dataset.digest())) {
                    swap(process, readers);
                    swapped += cutShort(process) ? 1 : 0;
                }
                swaps += SWAPS_BEFORE_A_KILL;
                kills++;
            }
            assertEquals(List.of(), readers.wrong(), "seed " + SEED);
            LOG.info(
                    "{} swaps each way and {} kills, {} of them after the swap, under {} reads, 0 wrong",
                    swaps,
                    kills,
                    swapped,
                    readers.reads());
        }
        imageMounts.detach(key);
    }

    private void swap(SwapProcess process, TreeReaders readers) {
        for (int i = 0; i < SWAPS_BEFORE_A_KILL; i++) {
            for (Path file : List.of(replica, dataset.image().image())) {
                long before = readers.reads();
                TestDataset.dropCaches();
                process.swap(file);
                ReplicaNode.await(
                        () -> "a read",
                        () -> readers.reads() > before + 2 || !readers.wrong().isEmpty());
            }
        }
    }

    /// Kills the process during a swap, and checks that exactly one of the two files is behind the tree. Returns
    /// whether it is the new one.
    private boolean cutShort(SwapProcess process) throws IOException {
        TestDataset.dropCaches();
        process.begin(replica);
        LockSupport.parkNanos(random.nextLong(LONGEST_LIFE_NANOS));
        process.close();
        List<LoopStatus> devices = ReplicaNode.devices(dataset.digest());
        assertEquals(1, devices.size(), () -> devices + "; seed " + SEED);
        long inode = devices.getFirst().backing().inode();
        if (inode == inode(replica)) {
            return true;
        }
        assertEquals(inode(dataset.image().image()), inode, () -> devices + "; seed " + SEED);
        return false;
    }

    private static long inode(Path file) throws IOException {
        return (Long) Files.getAttribute(file, "unix:ino");
    }
}

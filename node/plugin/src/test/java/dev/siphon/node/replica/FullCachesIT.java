package dev.siphon.node.replica;

import static dev.siphon.node.replica.ReplicaNode.FAST;
import static dev.siphon.node.replica.ReplicaNode.LIMIT;
import static dev.siphon.node.replica.ReplicaNode.awaitLocal;
import static dev.siphon.node.replica.ReplicaNode.awaitNoDevice;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.mount.MountedDatasets.Nearby;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Where the first replica of a dataset goes when the cache directories are nearly full.
class FullCachesIT {
    private static final int WATERMARK_PERCENT = 90; // that of siphon node
    private static final GpuProximity NEAR = new GpuProximity(Duration.ofMinutes(5), Duration.ofSeconds(20), true);

    private final Workplace workplace = Workplace.create();
    private final TestDataset dataset = TestDataset.create(workplace, "one", 90, 100_000);
    private final Path left = workplace.path("left");
    private final Path right = workplace.path("right");
    private Optional<Replicas> running = Optional.empty();

    @AfterEach
    void close() {
        running.ifPresent(Replicas::close);
        workplace.close();
        awaitNoDevice(dataset.digest());
    }

    private Replicas start(long leftLimit, long rightLimit) {
        Replicas started = Replicas.start(
                ReplicaNode.settings(
                        workplace.path("state"),
                        FAST,
                        NEAR,
                        new CacheDirectoryLimits(left, leftLimit, WATERMARK_PERCENT),
                        new CacheDirectoryLimits(right, rightLimit, WATERMARK_PERCENT)),
                new BackgroundTasks(),
                _ -> {});
        running = Optional.of(started);
        return started;
    }

    /// Occupies a cache directory with a replica of a dataset of the same size, which is not attached.
    private TestDataset occupy(Replicas replicas, String name, Path cache) {
        TestDataset other = TestDataset.create(workplace, name, 90, 100_000);
        ImageMount mount = replicas.attach(other.image());
        replicas.chooseTree(other.digest(), List.of(cache));
        awaitLocal(replicas, other.digest(), cache);
        replicas.detach(mount.key());
        return other;
    }

    @Test
    void aFirstReplicaGoesElsewhereWhereOnlyPinnedOnesAreNearThePod() {
        long oneReplica = dataset.manifest().imageBytes() * 3 / 2;
        Replicas replicas = start(oneReplica, oneReplica);
        TestDataset leaves = occupy(replicas, "leaves", left);
        TestDataset stays = occupy(replicas, "stays", right);
        replicas.pin(stays.digest());
        Path common = replicas.attach(dataset.image()).tree();
        assertEquals(
                Optional.of(new Nearby(common, List.of(left))), replicas.chooseTree(dataset.digest(), List.of(right)));
        awaitLocal(replicas, dataset.digest(), left);
        assertFalse(Files.exists(left.resolve(leaves.digest().hex()).resolve("image")));
        assertTrue(Files.exists(right.resolve(stays.digest().hex()).resolve("image")));
    }

    @Test
    void aReplicaThatFitsEvictsNothing() {
        long twoReplicas = dataset.manifest().imageBytes() * 21 / 10; // two fill 95 % of it
        Replicas replicas = start(LIMIT, twoReplicas);
        TestDataset stays = occupy(replicas, "stays", right);
        var _ = replicas.attach(dataset.image());
        replicas.chooseTree(dataset.digest(), List.of(right));
        awaitLocal(replicas, dataset.digest(), right);
        assertTrue(Files.exists(right.resolve(stays.digest().hex()).resolve("image")));
    }
}

package dev.siphon.node.replica;

import static dev.siphon.node.replica.ReplicaNode.FAST;
import static dev.siphon.node.replica.ReplicaNode.await;
import static dev.siphon.node.replica.ReplicaNode.awaitLocal;
import static dev.siphon.node.replica.ReplicaNode.awaitNoDevice;
import static dev.siphon.node.replica.ReplicaNode.awaitStatus;
import static dev.siphon.node.replica.ReplicaNode.scrubbing;
import static dev.siphon.node.replica.ReplicaNode.settings;
import static dev.siphon.node.replica.ReplicaNode.slowly;
import static dev.siphon.node.replica.ReplicaNode.status;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Damages data on a disk or at the source, at different times.
class DamageIT {
    private static final Duration OFTEN = Duration.ofMillis(50);

    private final Workplace workplace = Workplace.create();
    /// 4 chunks.
    private final TestDataset dataset = TestDataset.create(workplace, "one", 40, 400_000);

    private final Path cache = workplace.path("cache");
    private final Path folder = cache.resolve(dataset.digest().hex());
    private final Path replica = folder.resolve("image");
    private Optional<Replicas> running = Optional.empty();

    @AfterEach
    void close() {
        stop();
        workplace.close();
        awaitNoDevice(dataset.digest());
    }

    private Replicas start(ReplicaPolicy policy) {
        stop();
        Replicas started = Replicas.start(settings(workplace, policy), new BackgroundTasks(), _ -> {});
        running = Optional.of(started);
        return started;
    }

    private void stop() {
        running.ifPresent(Replicas::close);
        running = Optional.empty();
    }

    /// Returns the creation time, which distinguishes two files of the same name and inode number.
    private static Optional<Object> birth(Path file) {
        try {
            return Optional.of(Files.getAttribute(file, "creationTime"));
        } catch (NoSuchFileException _) {
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void cut(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(Manifest.CHUNK_BYTES + 100);
        }
    }

    private void awaitRecorded(int chunks) {
        Path record = folder.resolve("image.chunks");
        await(() -> "chunks in " + record, () -> {
            try {
                return Files.exists(record) && Files.size(record) >= 4L * chunks;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private void awaitWholeAndRight(Replicas replicas) {
        awaitStatus(
                replicas,
                dataset.digest(),
                status -> status.map(ReplicaStatus::state).equals(Optional.of(new ReplicaState.Local(cache))));
        try {
            assertEquals(-1, Files.mismatch(dataset.image().image(), replica));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void whatChangesOnTheDiskBeforeTheEndOfAFillIsFetchedAgain() {
        Replicas replicas = start(slowly(4));
        replicas.warm(dataset.image());
        awaitRecorded(2);
        TestDataset.flip(folder.resolve("image.part"), 17);
        awaitWholeAndRight(replicas);
    }

    @Test
    void aFillGoesOnWhereItStoppedAndTrustsNothing() {
        Replicas replicas = start(slowly(4));
        replicas.warm(dataset.image());
        awaitRecorded(3);
        stop();
        TestDataset.flip(folder.resolve("image.part"), 17);
        // a second download of any chunk but the first would be wrong now
        TestDataset.flip(dataset.image().image(), Manifest.CHUNK_BYTES + 17);
        replicas = start(FAST);
        awaitStatus(
                replicas,
                dataset.digest(),
                status -> status.map(ReplicaStatus::state).equals(Optional.of(new ReplicaState.Local(cache))));
        TestDataset.flip(dataset.image().image(), Manifest.CHUNK_BYTES + 17);
        awaitWholeAndRight(replicas);
    }

    @Test
    void aBadChunkOfTheSourceIsNamedAndTheFillGoesOnWhenItIsGood() {
        TestDataset.flip(dataset.image().image(), 2L * Manifest.CHUNK_BYTES + 5);
        Replicas replicas = start(FAST);
        replicas.warm(dataset.image());
        awaitStatus(
                replicas,
                dataset.digest(),
                status -> status.flatMap(ReplicaStatus::problem)
                        .filter(problem -> problem.contains("chunk 2 "))
                        .isPresent());
        assertTrue(Files.notExists(replica));
        TestDataset.flip(dataset.image().image(), 2L * Manifest.CHUNK_BYTES + 5);
        awaitWholeAndRight(replicas);
        assertEquals(
                Optional.empty(),
                status(replicas, dataset.digest()).orElseThrow().problem());
    }

    @Test
    void anImageThatStaysWrongIsReadWholeOnce() throws IOException {
        long bytes = Files.size(dataset.image().image());
        for (long at = 5; at < bytes; at += Manifest.CHUNK_BYTES) {
            TestDataset.flip(dataset.image().image(), at);
        }
        Replicas replicas = start(FAST);
        replicas.warm(dataset.image());
        await(
                () -> "fills that fail again",
                () -> replicas.counts().failedFills().sum() >= 3);
        assertEquals(bytes, replicas.counts().filledBytes().sum());
        assertTrue(Files.notExists(replica));
    }

    @Test
    void aReplicaDamagedWhileNobodyLookedIsNeverRead() throws IOException {
        for (boolean shortened : new boolean[] {false, true}) {
            Replicas replicas = start(FAST);
            replicas.warm(dataset.image());
            awaitWholeAndRight(replicas);
            stop();
            Object before = birth(replica).orElseThrow();
            if (shortened) {
                cut(replica);
            } else {
                TestDataset.flip(replica, 3L * Manifest.CHUNK_BYTES);
            }
            replicas = start(FAST);
            ImageMount imageMount = replicas.attach(dataset.image());
            assertEquals(new ReadLocation.Remote(), imageMount.place());
            awaitLocal(replicas, dataset.digest(), cache);
            assertNotEquals(before, birth(replica).orElseThrow());
            assertTrue(dataset.isRight(imageMount.tree()));
            replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        }
    }

    @Test
    void aReplicaDamagedWhileItIsReadIsLeftAndMadeAnew() throws IOException {
        Replicas replicas = start(scrubbing(OFTEN));
        Path tree = replicas.attach(dataset.image()).tree();
        awaitLocal(replicas, dataset.digest(), cache);
        Object before = birth(replica).orElseThrow();
        TestDataset.flip(replica, Manifest.CHUNK_BYTES + 1);
        await(
                () -> "another file",
                () -> birth(replica).filter(it -> !it.equals(before)).isPresent());
        awaitLocal(replicas, dataset.digest(), cache);
        assertTrue(dataset.isRight(tree));
        Object second = birth(replica).orElseThrow();
        cut(replica);
        await(
                () -> "a third",
                () -> birth(replica).filter(it -> !it.equals(second)).isPresent());
        awaitLocal(replicas, dataset.digest(), cache);
        assertTrue(dataset.isRight(tree));
    }

    @Test
    void aReplicaDamagedUnderItsReadersWhileTheDriverWasAwayIsFoundFirst() {
        Replicas replicas = start(FAST);
        Path tree = replicas.attach(dataset.image()).tree();
        awaitLocal(replicas, dataset.digest(), cache);
        stop();
        Object before = birth(replica).orElseThrow();
        TestDataset.flip(replica, 1);
        replicas = start(FAST);
        await(
                () -> "another file",
                () -> birth(replica).filter(it -> !it.equals(before)).isPresent());
        awaitLocal(replicas, dataset.digest(), cache);
        assertTrue(dataset.isRight(tree));
    }
}

package dev.siphon.node.replica;

import static dev.siphon.node.replica.ReplicaNode.FAST;
import static dev.siphon.node.replica.ReplicaNode.awaitLocal;
import static dev.siphon.node.replica.ReplicaNode.awaitNoDevice;
import static dev.siphon.node.replica.ReplicaNode.awaitStatus;
import static dev.siphon.node.replica.ReplicaNode.settings;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Trees over replicas while the image cannot be reached: its directory is moved away.
class OfflineReplicasIT {
    private final Workplace workplace = Workplace.create();
    private final TestDataset dataset = TestDataset.create(workplace, "one", 90, 100_000);
    private final Path cache = workplace.path("cache");
    private final Path away = workplace.path("away");
    private Replicas replicas = start();

    private Replicas start() {
        return Replicas.start(settings(workplace, FAST), new BackgroundTasks(), _ -> {});
    }

    @AfterEach
    void close() {
        replicas.close();
        workplace.close();
        awaitNoDevice(dataset.digest());
    }

    private Path folder() {
        return dataset.image().image().resolveSibling("");
    }

    /// Fills a replica, and ends as a node that restarts does: nothing is mounted, and the image is out of reach.
    private void fillAndRestart() throws IOException {
        replicas.attach(dataset.image());
        awaitLocal(replicas, dataset.digest(), cache);
        replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        replicas.close();
        Files.move(folder(), away);
        replicas = start();
    }

    @Test
    void aRestartedNodeVerifiesAndShowsItsReplica() throws IOException {
        fillAndRestart();
        ImageMount shown = replicas.attachReplica(dataset.image());
        assertEquals(new ReadLocation.Local(cache), shown.place());
        assertTrue(dataset.isRight(shown.tree()));
        assertEquals(shown, replicas.attachReplica(dataset.image()));
        assertEquals(shown.tree(), replicas.attach(dataset.image()).tree());
    }

    @Test
    void aDamagedReplicaIsNotShown() throws IOException {
        fillAndRestart();
        damage();
        DriverException refused = assertThrows(DriverException.class, () -> replicas.attachReplica(dataset.image()));
        assertTrue(refused instanceof DriverException.BackendUnavailable, refused::toString);
    }

    /// The node's daily check finds it under the pods that read it.
    @Test
    void aReplicaThatIsFoundDamagedIsShownToNobodyElse() throws IOException {
        fillAndRestart();
        var _ = replicas.attachReplica(dataset.image());
        replicas.close();
        damage();
        replicas = Replicas.start(
                settings(workplace, ReplicaNode.scrubbing(Duration.ofMillis(200))), new BackgroundTasks(), _ -> {});
        ReplicaNode.await(() -> "refused: " + replicas.list(), () -> {
            try {
                var _ = replicas.attachReplica(dataset.image());
                return false;
            } catch (DriverException.BackendUnavailable _) {
                return true;
            }
        });
    }

    private void damage() throws IOException {
        Path image = cache.resolve(dataset.digest().hex()).resolve("image");
        byte[] wrong = Files.readAllBytes(image);
        wrong[wrong.length / 2] ^= 1;
        try (FileChannel file = FileChannel.open(image, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(wrong), 0);
        }
    }

    @Test
    void withoutAReplicaNothingIsShown() throws IOException {
        Files.move(folder(), away);
        assertThrows(DriverException.BackendUnavailable.class, () -> replicas.attachReplica(dataset.image()));
        assertEquals(Optional.empty(), ReplicaNode.status(replicas, dataset.digest()));
    }

    @Test
    void aTreeThatReadsTheImageStays() throws IOException {
        replicas.close();
        replicas = Replicas.start(ReplicaNode.settings(workplace.path("state"), FAST), new BackgroundTasks(), _ -> {});
        ImageMount remote = replicas.attach(dataset.image());
        assertThrows(DriverException.BackendUnavailable.class, () -> replicas.attachReplica(dataset.image()));
        assertTrue(dataset.isRight(remote.tree()));
    }

    @Test
    void withTheImageBackATreeLeavesItsReplica() throws IOException {
        fillAndRestart();
        ImageMount shown = replicas.attachReplica(dataset.image());
        Files.move(away, folder());
        replicas.attach(dataset.image());
        replicas.evict(dataset.digest());
        awaitStatus(
                replicas,
                dataset.digest(),
                status -> status.flatMap(ReplicaStatus::attached)
                        .filter(attached -> attached.place().equals(new ReadLocation.Remote()))
                        .isPresent());
        assertTrue(dataset.isRight(shown.tree()));
    }
}

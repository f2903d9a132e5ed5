package dev.siphon.controller.seal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.key.NoSessions;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Images sealed by a version that did not read them back.
final class UnverifiedImagesTest {
    private static final String NAME = "u1.imagenet-v1";

    private final SealWorld world = new SealWorld();
    private PrometheusRegistry metrics = new PrometheusRegistry();

    /// Seals like an earlier version: a dataset without a recorded read-back.
    private SnapshotId seal() {
        SnapshotId id = world.seal().id();
        world.cluster.noted.clear();
        world.cluster.checks.clear();
        world.minted.removed.clear();
        return id;
    }

    private UnverifiedImages begun() {
        metrics = new PrometheusRegistry();
        return world.sealed.earlierImages(metrics);
    }

    /// Lets time pass: failed images are not retried at each check.
    private static void muchLater(UnverifiedImages images) {
        for (int i = 0; i < UnverifiedImages.RARELY; i++) {
            images.verifyNext();
        }
    }

    private double left() {
        return metrics.scrape().stream()
                .map(GaugeSnapshot.class::cast)
                .findFirst()
                .orElseThrow()
                .getDataPoints()
                .getFirst()
                .getValue();
    }

    private Optional<String> noted(String name) {
        return Optional.ofNullable(world.cluster.noted.get(name)).map(ReadBack::toString);
    }

    private void assertServed(SnapshotId id) {
        assertEquals(Optional.of(NAME), world.sealed.shownBy(SealWorld.reading(id, Map.of())));
    }

    @Test
    void anImageIsReadBackOnceAndServedMeanwhile() {
        SnapshotId id = seal();
        world.cluster.readBack = new PackerOutcome.Running("read 7%");
        UnverifiedImages images = begun();
        images.verifyNext();
        images.verifyNext();
        CheckOrder check = world.cluster.checks.values().iterator().next();
        assertEquals(SealWorld.MANIFEST.root(), check.digest());
        assertTrue(check.earlier());
        String packer = "siphon-packer.fs." + world.place(id).name();
        assertEquals(packer + ".check", check.key().userId());
        assertTrue(world.minted.removed.contains(packer), "whoever might write it is gone before it is read");
        assertEquals(Optional.of("reads"), noted(NAME));
        assertEquals(1, left());
        assertServed(id);
        world.restart();
        world.cluster.packers.replaceAll((_, _) -> new PackerOutcome.Ended());
        world.cluster.checks.clear();
        images = begun();
        images.verifyNext();
        assertEquals(Optional.of("done"), noted(NAME));
        assertEquals(Map.of(), world.cluster.packers);
        assertTrue(world.minted.removed.contains(packer + ".check"));
        world.restart();
        images = begun();
        images.verifyNext();
        assertEquals(0, left());
        assertEquals(Map.of(), world.cluster.checks, "it is not read again");
        assertServed(id);
    }

    @Test
    void whatIsSealedNowIsNotReadAgain() {
        SnapshotId id = world.seal().id();
        world.cluster.checks.clear();
        begun().verifyNext();
        assertEquals(Map.of(), world.cluster.checks);
        assertServed(id);
    }

    @Test
    void anImageThatIsNotWhatItsManifestSaysIsRefusedUntilAllOfItWasRead() {
        SnapshotId id = seal();
        world.cluster.readBack = new PackerOutcome.Failed("from byte 0 on, it is not what its manifest says", true);
        UnverifiedImages images = begun();
        images.verifyNext();
        muchLater(images);
        String job = world.place(id).checker();
        String refused =
                "refused: from byte 0 on, it is not what its manifest says; delete its VolumeSnapshot and take another one; if the image was repaired, delete Job "
                        + job + " to have it read again";
        assertEquals(Optional.of(refused), noted(NAME));
        assertEquals(1, left());
        assertEquals("DatasetNotSealed", world.cluster.told.getLast().reason());
        assertTrue(world.cluster.told.getLast().message().contains("from byte 0 on"));
        long told = world.cluster.told.size();
        muchLater(images);
        assertEquals(told, world.cluster.told.size(), "it is said once");
        assertThrows(DriverException.InUse.class, () -> assertServed(id));
        for (PackerOutcome other : List.<PackerOutcome>of(
                new PackerOutcome.Running("reads"),
                new PackerOutcome.Queued("waits"),
                new PackerOutcome.Failed("OOMKilled, exit code 137", false))) {
            world.cluster.packers.clear();
            world.cluster.readBack = other;
            muchLater(images);
            assertEquals(Optional.of(refused), noted(NAME), other::toString);
        }
        world.cluster.packers.replaceAll((_, _) -> new PackerOutcome.Ended());
        muchLater(images);
        assertServed(id);
        world.sealed.delete(id);
        assertEquals(Map.of(), world.cluster.declared);
    }

    @Test
    void anImageThatCouldNotBeReadIsServed() {
        SnapshotId id = seal();
        world.cluster.readBack = new PackerOutcome.Failed("OOMKilled, exit code 137", false);
        UnverifiedImages images = begun();
        images.verifyNext();
        muchLater(images);
        assertEquals(
                Optional.of("failed: OOMKilled, exit code 137; delete Job "
                        + world.place(id).checker() + " to have it read again"),
                noted(NAME));
        assertServed(id);
        world.cluster.packers.clear();
        world.cluster.readBack = new PackerOutcome.Ended();
        muchLater(images);
        assertEquals(Optional.of("done"), noted(NAME));
    }

    @Test
    void anotherDatasetsImageInItsDirectoryProvesNothing() {
        SnapshotId id = seal();
        Manifest other = new Manifest(6000, 1, SealWorld.MANIFEST.chunks());
        world.ceph.file(world.place(id).path() + "/image.manifest", other.text());
        UnverifiedImages images = begun();
        images.verifyNext();
        assertEquals(Map.of(), world.cluster.packers);
        assertEquals(Optional.of("waits"), noted(NAME));
    }

    @Test
    void itIsNotReadWhileSomebodyMayWriteIt() {
        var _ = seal();
        world.sessions = new NoSessions() {
            @Override
            public List<ClientSession> all(String cluster, String fileSystem) {
                throw new DriverException.BackendUnavailable("no MDS");
            }
        };
        world.restart();
        UnverifiedImages images = begun();
        assertThrows(DriverException.BackendUnavailable.class, images::verifyNext);
        assertEquals(Map.of(), world.cluster.checks);
        assertEquals(Optional.of("waits"), noted(NAME));
    }

    @Test
    void oneIsReadAfterTheOtherAndNoneThatIsAnAdministrators() {
        var _ = seal();
        Dataset image = Optional.ofNullable(world.cluster.declared.get(NAME)).orElseThrow();
        for (int i = 0; i < 20; i++) {
            world.cluster.declare(new Dataset(
                    "u1.gone" + i,
                    image.cluster(),
                    image.fileSystem(),
                    "/datasets/i" + "0".repeat(13) + (i + 10),
                    Digest.of(ByteBuffer.allocate(1)),
                    0,
                    Set.of("u1")));
        }
        world.cluster.declare(new Dataset(
                "all", image.cluster(), image.fileSystem(), "/datasets/all", image.digest(), 0, Set.of("*")));
        world.cluster.readBack = new PackerOutcome.Running("reads");
        UnverifiedImages images = begun();
        for (int i = 0; i < 3; i++) {
            images.verifyNext();
        }
        assertEquals(21, left());
        assertEquals(1, world.cluster.checks.size(), "what cannot be read holds up no other one");
        assertEquals(Optional.of("reads"), noted(NAME));
        assertEquals(Optional.empty(), noted("all"));
        world.cluster.packers.clear();
        world.cluster.readBack = new PackerOutcome.Queued("waits: 1 are packed before it");
        images.verifyNext();
        assertEquals(Optional.of("waits"), noted(NAME), "it made way");
    }
}

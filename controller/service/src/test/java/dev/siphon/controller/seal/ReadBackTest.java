package dev.siphon.controller.seal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.key.NoSessions;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Manifest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// The steps between the packer's end and the Dataset.
final class ReadBackTest {
    private final SealWorld world = new SealWorld();
    private final List<String> before = world.ceph.everything();

    @Test
    void whatThePackerWritesUntilItIsStoppedIsInTheImage() {
        var _ = world.ask();
        SnapshotId id = world.ask().id();
        world.ceph.file(world.place(id).path() + "/image.manifest", SealWorld.MANIFEST.text());
        world.cluster.stopsAfter = 2;
        assertFalse(world.ask().ready(), "its packer may still write");
        assertEquals(Map.of(), world.cluster.declared);
        Manifest last = new Manifest(6000, 1, SealWorld.MANIFEST.chunks());
        world.ceph.file(world.place(id).path() + "/image.manifest", last.text());
        assertTrue(world.ask().ready());
        assertEquals(
                Optional.of(last.root()),
                Optional.ofNullable(world.cluster.declared.get("u1.imagenet-v1"))
                        .map(Dataset::digest));
    }

    @Test
    void anImageIsReadBackByAnotherIdentityBeforeItIsADataset() {
        var _ = world.ask();
        SnapshotId id = world.ask().id();
        world.cluster.readBack = new PackerOutcome.Running("read 7%");
        world.pack(id);
        assertFalse(world.ask().ready());
        assertEquals(Map.of(), world.cluster.declared);
        CheckOrder check = world.cluster.checks.values().iterator().next();
        assertEquals(SealWorld.MANIFEST.root(), check.digest());
        assertEquals(world.place(id).path(), ((VolumeId.Static) check.target().id()).path());
        String packer = "siphon-packer.fs." + world.place(id).name();
        assertEquals(packer + ".check", check.key().userId());
        assertTrue(world.minted.removed.contains(packer), "whoever writes it is gone before it is read");
        assertEquals(Set.of(world.place(id).checker()), world.cluster.packers.keySet());
        assertEquals("read 7%", world.cluster.told.getLast().message());
        world.restart();
        assertFalse(world.ask().ready(), "it goes on");
        world.cluster.packers.replaceAll((_, _) -> new PackerOutcome.Ended());
        assertTrue(world.ask().ready());
        assertTrue(world.minted.removed.contains(packer + ".check"));
        assertEquals(Map.of(), world.cluster.packers);
    }

    @Test
    void oneCallWaitsForAShortCheckAndForNoQueue() {
        world.patience = Duration.ofMinutes(5);
        world.restart();
        var _ = world.ask();
        SnapshotId id = world.ask().id();
        world.cluster.readBack = new PackerOutcome.Queued("waits: 1 are packed before it");
        world.pack(id);
        assertFalse(world.ask().ready());
        assertEquals(
                "waits: 1 are packed before it", world.cluster.told.getLast().message());
        world.cluster.packers.clear();
        world.cluster.readBack = new PackerOutcome.Running("reads");
        world.cluster.becomes = Optional.of(new PackerOutcome.Ended());
        assertTrue(world.ask().ready());
    }

    @Test
    void anImageThatIsNotWhatItsManifestSaysIsNoDataset() {
        var _ = world.ask();
        SnapshotId id = world.ask().id();
        world.cluster.readBack = new PackerOutcome.Failed("from byte 0 on, it is not what its manifest says", true);
        world.pack(id);
        for (int i = 0; i < 2; i++) {
            String said = assertThrows(DriverException.InUse.class, world::ask).getMessage();
            assertTrue(said.contains("from byte 0 on"), said);
            assertEquals(said, world.cluster.told.getLast().message());
        }
        assertEquals("DatasetNotSealed", world.cluster.told.getLast().reason());
        assertEquals(Map.of(), world.cluster.declared);
        assertFalse(world.domain.snapshots().find(id).orElseThrow().ready());
        world.sealed.delete(id);
        assertEquals(before, world.ceph.everything());
        assertEquals(Map.of(), world.cluster.packers);
        assertTrue(world.minted.removed.contains(
                "siphon-packer.fs." + world.place(id).name() + ".check"));
    }

    @Test
    void anImageWhoseCheckIsDeletedIsReadAgain() {
        world.cluster.readBack = new PackerOutcome.Failed("it is not what its manifest says", true);
        assertThrows(DriverException.InUse.class, world::seal);
        world.cluster.packers.clear();
        world.cluster.readBack = new PackerOutcome.Ended();
        assertTrue(world.ask().ready());
    }

    @Test
    void whereNoSessionCanBeEndedItIsSealedAllTheSame() {
        world.sessions = new NoSessions() {
            @Override
            public List<ClientSession> all(String cluster, String fileSystem) {
                throw new DriverException.AccessDenied("no mds 'allow *'");
            }
        };
        world.restart();
        assertTrue(world.seal().ready());
    }
}

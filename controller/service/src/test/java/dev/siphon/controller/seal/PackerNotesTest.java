package dev.siphon.controller.seal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.AccountFreeze;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Notes of a packer on its image's directory: the packer's key can write the directory, and so its attributes.
final class PackerNotesTest {
    private final SealWorld world = new SealWorld();
    private final List<String> before = world.ceph.everything();

    @Test
    void whatAPackerNotesCountsForNothing() {
        var _ = world.ask();
        SnapshotId id = world.ask().id();
        forge(id, DatasetPlace.NAME, "u2.imagenet-v1");
        forge(id, DatasetPlace.ASKED, "u2/imagenet-v1");
        forge(id, DatasetPlace.SEALED, SealWorld.MANIFEST.root() + " 1");
        assertFalse(world.domain.snapshots().find(id).orElseThrow().ready());
        assertFalse(world.ask().ready());
        world.restart();
        world.cluster.readBack = new PackerOutcome.Running("reads");
        world.pack(id);
        assertFalse(world.ask().ready(), "it is read back all the same");
        assertEquals(Map.of(), world.cluster.declared);
        world.cluster.packers.replaceAll((_, _) -> new PackerOutcome.Ended());
        assertTrue(world.ask().ready());
        assertEquals(Set.of("u1.imagenet-v1"), world.cluster.declared.keySet());
        assertEquals(
                Optional.of(5000L),
                Optional.ofNullable(world.cluster.declared.get("u1.imagenet-v1"))
                        .map(Dataset::bytes));
        assertEquals(
                Optional.of("u1.imagenet-v1"),
                world.place(id).note(world.ceph.ports().files(), DatasetPlace.NAME));
        assertEquals(
                Optional.of(SealWorld.SEALING.object().toString()),
                world.place(id).note(world.ceph.ports().files(), DatasetPlace.ASKED));
        world.sealed.delete(id);
        assertEquals(before, world.ceph.everything());
    }

    @Test
    void aPackerThatTakesTheNameOfItsImageAwayIsRemovedAllTheSame() {
        for (String name : List.of("", "../../../pods/x")) {
            var _ = world.ask();
            SnapshotId id = world.ask().id();
            forge(id, DatasetPlace.NAME, name);
            world.sealed.delete(id);
            assertEquals(Map.of(), world.cluster.packers);
            assertEquals(before, world.ceph.everything());
        }
    }

    @Test
    void aPackerThatTakesTheMarkOfAFrozenAccountAwayGivesItsImageToNobody() {
        var _ = world.ask();
        SnapshotId id = world.ask().id();
        SubvolumeGroup group = SubvolumeGroup.of(id.volume());
        world.ceph
                .ports()
                .files()
                .setNote(group.cluster(), group.fileSystem(), group.path(), AccountFreeze.NOTE, "now");
        world.pack(id);
        assertTrue(world.ask().ready());
        assertEquals(Optional.of("now"), world.place(id).note(world.ceph.ports().files(), AccountFreeze.NOTE));
    }

    /// An earlier version does not know the note on the subvolume.
    @Test
    void whatAnEarlierVersionSealedMeanwhileIsSealed() {
        var _ = world.ask();
        SnapshotId id = world.ask().id();
        world.cluster.declare(new Dataset(
                "u1.imagenet-v1",
                Optional.of(id.volume().cluster()),
                id.volume().fileSystem(),
                world.place(id).path(),
                SealWorld.MANIFEST.root(),
                5000,
                Set.of("u1")));
        forge(id, DatasetPlace.SEALED, SealWorld.MANIFEST.root() + " 5000");
        assertFalse(world.domain.snapshots().find(id).orElseThrow().ready());
        assertEquals(Optional.of("u1.imagenet-v1"), world.sealed.shownBy(SealWorld.reading(id, Map.of())));
        assertTrue(world.domain.snapshots().find(id).orElseThrow().ready());
    }

    private void forge(SnapshotId id, String note, String value) {
        DatasetPlace place = world.place(id);
        world.ceph.ports().files().setNote(place.cluster(), place.fileSystem(), place.path(), note, value);
    }
}

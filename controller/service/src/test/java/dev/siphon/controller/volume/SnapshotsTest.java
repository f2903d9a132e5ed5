package dev.siphon.controller.volume;

import static dev.siphon.controller.volume.World.GIB;
import static dev.siphon.controller.volume.World.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

final class SnapshotsTest {
    private final World world = new World();
    private final VolumeId.Provisioned volume = world.volumeWithFile("pvc-1");

    @Test
    void createTwiceTakesOneSnapshot() {
        SnapshotView first = world.domain.snapshots().create(volume, "snap-1");
        assertEquals(OptionalLong.of(GIB), first.sizeBytes());
        assertEquals(Optional.empty(), first.group());
        assertEquals(first, world.domain.snapshots().create(volume, "snap-1"));
        world.restart();
        assertEquals(first, world.domain.snapshots().create(volume, "snap-1"));
        assertEquals(Optional.of(first), world.domain.snapshots().find(first.id()));
    }

    @Test
    void aSnapshotThatWasTakenIsFoundWhenItsVolumeIsGone() {
        SnapshotView taken = world.domain.snapshots().create(volume, "snap-1");
        world.domain.volumes().delete(volume);
        assertEquals(taken, world.domain.snapshots().create(volume, "snap-1"));
        assertThrows(
                DriverException.NotFound.class, () -> world.domain.snapshots().create(volume, "snap-2"));
    }

    @Test
    void aNameIsForOneVolumeOnly() {
        VolumeId.Provisioned other = world.create(request("pvc-2"));
        SnapshotId id = world.snapshot(volume, "snap-1");
        assertThrows(
                DriverException.IncompatibleExisting.class,
                () -> world.domain.snapshots().create(other, "snap-1"));
        world.domain.snapshots().delete(id);
        world.snapshot(other, "snap-1");
    }

    @Test
    void deleteMayBeRepeated() {
        SnapshotId id = world.snapshot(volume, "snap-1");
        for (int i = 0; i < 2; i++) {
            world.domain.snapshots().delete(id);
            assertEquals(Optional.empty(), world.domain.snapshots().find(id));
        }
        assertEquals(1, world.ceph.everything().size());
    }

    @Test
    void the101stIsTooMany() {
        for (int i = 0; i < 100; i++) {
            world.snapshot(volume, "snap-" + i);
        }
        assertThrows(
                DriverException.QuotaExhausted.class,
                () -> world.domain.snapshots().create(volume, "one-more"));
    }

    @Test
    void onlyVolumesOfThisDriverCanBeSnapshotted() {
        world.ceph.directory("/data", OptionalLong.empty());
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> world.domain.snapshots().create(new VolumeId.Static("lab", "fs", "/data"), "snap-1"));
        assertThrows(
                DriverException.NotFound.class,
                () -> world.domain.snapshots().create(SubvolumeGroup.of(volume).volume("v".repeat(21)), "snap-1"));
    }

    @Test
    void groupsAreTakenOnceOfAllVolumes() {
        VolumeId.Provisioned other = world.create(request("pvc-2"));
        GroupSnapshots.View first = world.domain.groupSnapshots().create("group", List.of(volume, other));
        assertEquals(2, first.snapshots().size());
        for (SnapshotView each : first.snapshots()) {
            assertEquals(Optional.of(first.id()), each.group());
        }
        assertEquals(first, world.domain.groupSnapshots().create("group", List.of(other, volume, other)));
        world.restart();
        assertEquals(first, world.domain.groupSnapshots().create("group", List.of(volume, other)));
        assertEquals(first, world.domain.groupSnapshots().get(first.id(), ids(first)));
        assertEquals(
                Optional.of(first.id().toString()),
                GroupSnapshotId.tryParse(first.id().toString()).map(GroupSnapshotId::toString));
    }

    private static List<SnapshotId> ids(GroupSnapshots.View group) {
        return group.snapshots().stream().map(SnapshotView::id).toList();
    }

    @Test
    void aGroupOfOtherVolumesUnderTheSameNameIsRefusedAndHarmsNothing() {
        VolumeId.Provisioned other = world.create(request("pvc-2"));
        VolumeId.Provisioned third = world.create(request("pvc-3"));
        GroupSnapshots.View first = world.domain.groupSnapshots().create("group", List.of(volume, other));
        assertThrows(
                DriverException.IncompatibleExisting.class,
                () -> world.domain.groupSnapshots().create("group", List.of(volume, third)));
        world.restart();
        world.domain.groupSnapshots().create("group", List.of(volume, third));
        assertEquals(first, world.domain.groupSnapshots().get(first.id(), ids(first)), "not even after a restart");
    }

    @Test
    void aGroupIsDeletedAsAWholeAndOnlyAsAWhole() {
        VolumeId.Provisioned other = world.create(request("pvc-2"));
        GroupSnapshots.View group = world.domain.groupSnapshots().create("group", List.of(volume, other));
        List<SnapshotId> ids = ids(group);
        SnapshotId stranger = world.snapshot(volume, "snap-1");
        for (List<SnapshotId> wrong : List.of(ids.subList(0, 1), List.of(ids.getFirst(), stranger))) {
            assertThrows(
                    DriverException.InvalidRequest.class,
                    () -> world.domain.groupSnapshots().delete(group.id(), wrong));
            assertThrows(
                    DriverException.InvalidRequest.class,
                    () -> world.domain.groupSnapshots().get(group.id(), wrong));
        }
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> world.domain.snapshots().delete(ids.getFirst()));
        for (int i = 0; i < 2; i++) {
            world.domain.groupSnapshots().delete(group.id(), ids.reversed());
            assertThrows(
                    DriverException.NotFound.class,
                    () -> world.domain.groupSnapshots().get(group.id(), ids));
        }
        assertEquals(3, world.ceph.everything().size());
    }

    @Test
    void aGroupOfWhichAVolumeNeedsOneStaysWhole() {
        VolumeId.Provisioned other = world.create(request("pvc-2"));
        GroupSnapshots.View group = world.domain.groupSnapshots().create("group", List.of(volume, other));
        SnapshotId needed = ids(group).getLast();
        world.create(World.readOnly(World.filledFrom(new ContentSource.FromSnapshot(needed), request("view"))));
        List<String> before = world.ceph.everything();
        assertThrows(
                DriverException.InUse.class, () -> world.domain.groupSnapshots().delete(group.id(), ids(group)));
        assertEquals(before, world.ceph.everything());
    }

    @Test
    void aGroupOfWhichOneIsBeingClonedStaysWhole() {
        VolumeId.Provisioned other = world.create(request("pvc-2"));
        GroupSnapshots.View group = world.domain.groupSnapshots().create("group", List.of(volume, other));
        world.ceph.clonesTake(1000);
        world.timeLeft.set(Duration.ofSeconds(1));
        VolumeRequest copy =
                World.filledFrom(new ContentSource.FromSnapshot(ids(group).getLast()), request("copy"));
        assertThrows(DriverException.OperationPending.class, () -> world.create(copy));
        List<String> before = world.ceph.everything();
        assertThrows(
                DriverException.OperationPending.class,
                () -> world.domain.groupSnapshots().delete(group.id(), ids(group)));
        assertEquals(before, world.ceph.everything());
        world.ceph.endClones();
        world.create(copy);
        world.domain.groupSnapshots().delete(group.id(), ids(group));
    }

    @Test
    void aGroupIsNotTakenAnewWhereAVolumeNeedsWhatIsThere() {
        VolumeId.Provisioned other = world.create(request("pvc-2"));
        GroupSnapshots.View group = world.domain.groupSnapshots().create("group", List.of(volume, other));
        List<SnapshotId> ids = ids(group);
        VolumeId.Provisioned view = world.create(
                World.readOnly(World.filledFrom(new ContentSource.FromSnapshot(ids.getFirst()), request("view"))));
        world.ceph.ports().subvolumes().removeSnapshot(ids.getLast());
        List<String> before = world.ceph.everything();
        assertThrows(
                DriverException.InUse.class,
                () -> world.domain.groupSnapshots().create("group", List.of(volume, other)));
        assertEquals(before, world.ceph.everything());
        world.domain.volumes().delete(view);
        assertEquals(
                2,
                world.domain
                        .groupSnapshots()
                        .create("group", List.of(volume, other))
                        .snapshots()
                        .size());
    }

    @Test
    void aGroupThatCannotBeWholeLeavesNothing() {
        VolumeId.Provisioned other = world.create(request("pvc-2"));
        for (int i = 0; i < 100; i++) {
            world.snapshot(other, "snap-" + i);
        }
        List<String> before = world.ceph.everything();
        assertThrows(
                DriverException.QuotaExhausted.class,
                () -> world.domain.groupSnapshots().create("group", List.of(volume, other)));
        assertEquals(before, world.ceph.everything());
        assertThrows(
                DriverException.NotFound.class,
                () -> world.domain
                        .groupSnapshots()
                        .create(
                                "group",
                                List.of(volume, SubvolumeGroup.of(volume).volume("v".repeat(21)))));
        assertEquals(before, world.ceph.everything());
    }

    @Test
    void aGroupDuringWhichWritesWentOnIsTakenAgain() {
        VolumeId.Provisioned other = world.create(request("pvc-2"));
        List<String> before = world.ceph.everything();
        world.ceph.quiesce(true, false);
        assertThrows(
                DriverException.OperationPending.class,
                () -> world.domain.groupSnapshots().create("group", List.of(volume, other)));
        assertEquals(before, world.ceph.everything());
        world.ceph.quiesce(false, false);
        assertEquals(
                2,
                world.domain
                        .groupSnapshots()
                        .create("group", List.of(volume, other))
                        .snapshots()
                        .size(),
                "a cluster that cannot quiesce snapshots one after the other");
    }

    @Test
    void volumesOfTwoFileSystemsAreNoGroup() {
        VolumeId.Provisioned other =
                new VolumeId.Provisioned(volume.cluster(), "fs2", volume.group(), volume.subvolume());
        assertThrows(
                DriverException.InUse.class,
                () -> world.domain.groupSnapshots().create("group", List.of(volume, other)));
    }

    @Test
    void aSnapshotMadeByHandIsListedAndCanBeASource() {
        SnapshotId byHand = new SnapshotId(volume, "by-hand");
        world.ceph.ports().subvolumes().createSnapshot(byHand);
        assertEquals(
                OptionalLong.of(GIB),
                world.domain.snapshots().find(byHand).orElseThrow().sizeBytes());
        assertTrue(world.domain.listings().snapshots(0, "", Optional.of(volume)).entries().stream()
                .anyMatch(each -> each.id().equals(byHand)));
        VolumeId.Provisioned made =
                world.create(World.filledFrom(new ContentSource.FromSnapshot(byHand), request("copy")));
        assertEquals(1, world.ceph.files(made).size());
    }
}

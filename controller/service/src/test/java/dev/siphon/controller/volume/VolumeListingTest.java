package dev.siphon.controller.volume;

import static dev.siphon.controller.volume.World.GIB;
import static dev.siphon.controller.volume.World.filledFrom;
import static dev.siphon.controller.volume.World.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/// Lists of volumes, snapshots and health, and capacities.
final class VolumeListingTest {
    private final World world = new World();

    /// Returns the entries of all pages.
    private static <T> List<T> all(BiFunction<Integer, String, VolumeListing.Page<T>> list, int most) {
        List<T> entries = new ArrayList<>();
        String token = "";
        do {
            VolumeListing.Page<T> page = list.apply(most, token);
            assertTrue(page.entries().size() <= most || most == 0);
            entries.addAll(page.entries());
            token = page.next();
        } while (!token.isEmpty());
        return entries;
    }

    private List<VolumeId> volumes(int most) {
        return all(world.domain.listings()::volumes, most).stream()
                .map(Volume::id)
                .toList();
    }

    private Function<Integer, List<SnapshotId>> snapshots(Optional<VolumeId> source) {
        return most -> all((limit, token) -> world.domain.listings().snapshots(limit, token, source), most).stream()
                .map(SnapshotView::id)
                .toList();
    }

    @Test
    void everyVolumeIsOnOnePage() {
        List<VolumeId> made = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            made.add(world.create(request("pvc-" + i, Map.of("owner", i % 2 == 0 ? "u1" : "u2"))));
        }
        for (int restarts = 0; restarts < 2; restarts++) {
            for (int most : new int[] {0, 1, 2, 3, 7, 100}) {
                List<VolumeId> listed = volumes(most);
                assertEquals(7, listed.size(), "with " + most + " at most");
                assertTrue(listed.containsAll(made));
            }
            world.restart();
        }
        assertEquals(
                GIB, world.domain.listings().volumes(1, "").entries().getFirst().capacityBytes());
    }

    @Test
    void theLastPageSaysThatItIs() {
        world.create(request("pvc-1"));
        world.create(request("pvc-2"));
        assertEquals("", world.domain.listings().volumes(2, "").next());
        assertEquals("", world.domain.listings().volumes(0, "").next());
    }

    @Test
    void aTokenStaysGoodWhateverIsMadeOrRemovedMeanwhile() {
        for (int i = 0; i < 6; i++) {
            world.create(request("pvc-" + i));
        }
        List<VolumeId> before = volumes(0);
        VolumeListing.Page<Volume> first = world.domain.listings().volumes(3, "");
        world.domain.volumes().delete(first.entries().getFirst().id());
        world.domain.volumes().delete(first.entries().getLast().id());
        List<VolumeId> rest = all(
                        (most, token) -> world.domain.listings().volumes(most, token.isEmpty() ? first.next() : token),
                        2)
                .stream()
                .map(Volume::id)
                .toList();
        assertEquals(before.subList(3, 6), rest);
        VolumeId more = world.create(request("pvc-more"));
        assertTrue(volumes(2).contains(more));
    }

    @Test
    void onlyVolumesOfThisDriverThatAreWholeAreListed() {
        VolumeId.Provisioned kept = world.volumeWithFile("pvc-1");
        world.snapshot(kept, "snap-1");
        world.domain.volumes().delete(kept);
        Subvolumes byHand = world.ceph.ports().subvolumes();
        byHand.createGroup(new SubvolumeGroup("lab", "fs", "by-hand"), OptionalLong.empty(), Optional.empty());
        var spec = new Subvolumes.SubvolumeSpec(OptionalLong.empty(), 0, 0, 0755, Optional.empty());
        byHand.create(new VolumeId.Provisioned("lab", "fs", "by-hand", "v".repeat(21)), spec);
        byHand.create(SubvolumeGroup.of(kept).volume("by-hand"), spec);
        world.ceph.breakSubvolume(SubvolumeGroup.of(kept).volume("v".repeat(21)));
        for (int restarts = 0; restarts < 2; restarts++) {
            assertEquals(List.of(), volumes(0));
            world.restart();
        }
    }

    @Test
    void snapshotsAreListedOfAllVolumesOrOfOne() {
        VolumeId.Provisioned one = world.volumeWithFile("pvc-1");
        VolumeId.Provisioned two = world.create(request("pvc-2", Map.of("owner", "u2")));
        List<SnapshotId> made = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            made.add(world.snapshot(i % 2 == 0 ? one : two, "snap-" + i));
        }
        world.domain.volumes().delete(one);
        for (int most : new int[] {0, 1, 2, 5}) {
            List<SnapshotId> listed = snapshots(Optional.empty()).apply(most);
            assertEquals(5, listed.size());
            assertTrue(listed.containsAll(made));
            assertEquals(3, snapshots(Optional.of(one)).apply(most).size());
        }
        assertEquals(
                List.of(),
                snapshots(Optional.of(new VolumeId.Static("lab", "fs", "/data")))
                        .apply(0));
    }

    @Test
    void aSnapshotsTokenStaysGoodWhenItIsRemoved() {
        VolumeId.Provisioned volume = world.volumeWithFile("pvc-1");
        for (int i = 0; i < 4; i++) {
            world.snapshot(volume, "snap-" + i);
        }
        List<SnapshotId> before = snapshots(Optional.empty()).apply(0);
        VolumeListing.Page<SnapshotView> first = world.domain.listings().snapshots(2, "", Optional.empty());
        world.domain.snapshots().delete(before.get(1));
        assertEquals(
                before.subList(2, 4),
                world.domain.listings().snapshots(0, first.next(), Optional.empty()).entries().stream()
                        .map(SnapshotView::id)
                        .toList());
    }

    @Test
    void theSnapshotBehindARunningCloneIsNobodysBusiness() {
        VolumeId.Provisioned volume = world.volumeWithFile("pvc-1");
        world.ceph.clonesTake(1000);
        world.timeLeft.set(java.time.Duration.ofSeconds(1));
        assertThrows(
                DriverException.OperationPending.class,
                () -> world.create(filledFrom(new ContentSource.FromVolume(volume), request("copy"))));
        assertEquals(List.of(), snapshots(Optional.empty()).apply(0));
    }

    @Test
    void badTokensAndLimitsAreRefused() {
        for (String token : List.of("x", "s2:lab:fs:a:v", "static:lab:fs:/data")) {
            assertThrows(
                    DriverException.OperationPending.class,
                    () -> world.domain.listings().volumes(0, token));
            assertThrows(
                    DriverException.OperationPending.class,
                    () -> world.domain.health().list(0, token));
            assertThrows(
                    DriverException.OperationPending.class,
                    () -> world.domain.listings().snapshots(0, token, Optional.empty()));
        }
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> world.domain.listings().volumes(-1, ""));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> world.domain.listings().snapshots(-1, "", Optional.empty()));
    }

    @Test
    void healthTellsWhatIsWrongAndListsNothingElse() {
        VolumeId.Provisioned healthy = world.create(request("healthy"));
        VolumeId.Provisioned full = world.create(World.sized(new CapacityRange(4, 4), request("full")));
        world.ceph.write(full, "file", "1234");
        VolumeId.Provisioned broken = SubvolumeGroup.of(healthy).volume("v".repeat(21));
        world.ceph.breakSubvolume(broken);
        world.restart();
        assertEquals(List.of(), world.domain.health().of(healthy).troubles());
        assertEquals(
                ClusterVolumeHealth.Trouble.Kind.DEGRADED,
                world.domain.health().of(full).troubles().getFirst().kind());
        assertEquals(
                ClusterVolumeHealth.Trouble.Kind.INACCESSIBLE,
                world.domain.health().of(broken).troubles().getFirst().kind());
        List<ClusterVolumeHealth.Report> listed = all(world.domain.health()::list, 1);
        assertEquals(2, listed.size());
        assertTrue(listed.stream().noneMatch(report -> report.id().equals(healthy)));
        assertThrows(
                DriverException.NotFound.class,
                () -> world.domain.health().of(SubvolumeGroup.of(healthy).volume("v".repeat(20) + "w")));
    }

    @Test
    void capacityIsWhatThePoolHasOrWhatIsLeftToTheAccount() {
        long pool = world.domain.capacities().available(ClassParameters.parse(Map.of()));
        assertEquals(1L << 50, pool);
        assertEquals(pool, world.domain.capacities().available(ClassParameters.parse(Map.of("owner", "u1"))));
        VolumeId.Provisioned volume = world.volumeWithFile("pvc-1");
        world.ceph
                .ports()
                .subvolumes()
                .createGroup(SubvolumeGroup.of(volume), OptionalLong.of(3 * GIB), Optional.empty());
        world.restart();
        assertEquals(2 * GIB, world.domain.capacities().available(ClassParameters.parse(Map.of("owner", "u1"))));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> world.domain.capacities().available(ClassParameters.parse(Map.of("dataPool", "none"))));
    }
}

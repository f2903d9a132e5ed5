package dev.siphon.controller.volume;

import static dev.siphon.controller.volume.World.GIB;
import static dev.siphon.controller.volume.World.filledFrom;
import static dev.siphon.controller.volume.World.readOnly;
import static dev.siphon.controller.volume.World.request;
import static dev.siphon.controller.volume.World.sized;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// An account's allowance over all its volumes and snapshots: u1 may have 4 GiB.
@Timeout(60)
final class AllowanceLedgerTest {
    private final World world = new World();

    @BeforeEach
    void allow4Gib() {
        allow(OptionalLong.of(4 * GIB));
    }

    private void allow(OptionalLong bytes) {
        world.directory.put(new Account("u1", "id-1", 10_001, 10_001, Set.of("u1"), bytes));
    }

    private VolumeRequest of(long bytes, String name) {
        return sized(new CapacityRange(bytes, 0), request(name));
    }

    private String refused(Runnable operation) {
        return assertThrows(DriverException.QuotaExhausted.class, operation::run)
                .getMessage();
    }

    private VolumeId.Provisioned withBytes(String name, int bytes) {
        VolumeId.Provisioned volume = world.create(request(name));
        world.ceph.write(volume, "file", "x".repeat(bytes));
        return volume;
    }

    private long committed(VolumeId.Provisioned any) {
        SubvolumeGroup group = SubvolumeGroup.of(any);
        return UsageCalculator.committed(group, world.ceph.ports().files().holdings(group));
    }

    @Test
    void sizesOfAllVolumesTogetherStayWithinTheAllowance() {
        world.create(of(3 * GIB, "three"));
        String message = refused(() -> world.create(of(2 * GIB, "two")));
        assertTrue(
                message.startsWith("account \"u1\" has 1 GiB left of its allowance of 4 GiB, 3 GiB are committed to"
                        + " volumes and snapshots; asked for 2 GiB: "),
                message);
        world.create(of(GIB, "one"));
        assertEquals(4 * GIB, committed(world.create(of(GIB, "one"))), "again is not once more");
        refused(() -> world.create(of(1, "byte")));
    }

    @Test
    void whatIsDeletedIsFree() {
        VolumeId.Provisioned all = world.create(of(4 * GIB, "all"));
        refused(() -> world.create(of(GIB, "more")));
        world.domain.volumes().delete(all);
        world.create(of(GIB, "more"));
    }

    @Test
    void aNewLeaderAddsUpWhatThereIs() {
        world.create(of(3 * GIB, "three"));
        world.restart();
        refused(() -> world.create(of(2 * GIB, "two")));
        world.create(of(GIB, "one"));
    }

    @Test
    void expansionCountsByWhatItAdds() {
        VolumeId.Provisioned volume = world.create(of(3 * GIB, "three"));
        assertEquals(4 * GIB, world.domain.volumes().expand(volume, new CapacityRange(4 * GIB, 0)));
        world.restart();
        String message = refused(() -> world.domain.volumes().expand(volume, new CapacityRange(5 * GIB, 0)));
        assertTrue(message.contains("asked for 1 GiB more: "), message);
        assertEquals(4 * GIB, world.domain.volumes().expand(volume, new CapacityRange(4 * GIB, 0)));
    }

    @Test
    void snapshotsCountWithWhatTheyHold() {
        allow(OptionalLong.of(GIB + 2500));
        VolumeId.Provisioned volume = withBytes("one", 1000);
        for (int round = 0; round < 2; round++) {
            world.snapshot(volume, "s" + round);
            world.snapshot(volume, "s" + round);
        }
        List<String> before = world.ceph.everything();
        refused(() -> world.snapshot(volume, "s2"));
        assertEquals(before, world.ceph.everything(), "what did not fit was removed again");
        world.domain.snapshots().delete(new SnapshotId(volume, CephNames.snapshot("s0")));
        world.snapshot(volume, "s2");
    }

    @Test
    void snapshotsOfADeletedVolumeStillCount() {
        VolumeId.Provisioned volume = withBytes("one", 1000);
        world.snapshot(volume, "kept");
        world.domain.volumes().delete(volume);
        assertEquals(1000, committed(volume));
        refused(() -> world.create(of(4 * GIB, "all")));
        world.restart();
        refused(() -> world.create(of(4 * GIB, "all")));
        world.create(of(4 * GIB - 1000, "rest"));
    }

    @Test
    void writingSnapshottingAndDeletingInACircleIsStopped() {
        allow(OptionalLong.of(GIB + 5000));
        VolumeId.Provisioned volume = withBytes("one", 0);
        AtomicInteger taken = new AtomicInteger();
        refused(() -> {
            while (taken.get() < 100) {
                world.ceph.write(volume, "file", "x".repeat(1000));
                world.snapshot(volume, "round-" + taken.get());
                world.ceph.write(volume, "file", "");
                taken.incrementAndGet();
            }
        });
        assertEquals(5, taken.get());
    }

    @Test
    void aSnapshotThatDoesNotFitIsRefusedHoweverOldTheSumIs() {
        allow(OptionalLong.of(GIB + 10));
        VolumeId.Provisioned volume = withBytes("volume", 8);
        CephPorts ceph = world.ceph.ports();
        AtomicLong now = new AtomicLong();
        AllowanceLedger ledger = new AllowanceLedger(ceph.files(), () -> Duration.ofSeconds(30), now::get);
        SnapshotCharges charges = new SnapshotCharges(ceph.subvolumes(), ceph.files(), ledger);
        charges.take(new SnapshotId(volume, "s1"), OptionalLong.of(GIB));

        now.addAndGet(Duration.ofHours(1).toNanos());
        String message = refused(() -> charges.take(new SnapshotId(volume, "s2"), OptionalLong.of(GIB)));

        assertTrue(message.contains("has 2 B left of its allowance"), message);
        assertTrue(message.contains("asked for 8 B: "), message);
        assertEquals(List.of("s1"), ceph.subvolumes().snapshots(volume));
        charges.take(new SnapshotId(volume, "s1"), OptionalLong.of(GIB));
    }

    @Test
    void groupsOfSnapshotsCountAndLeaveNothingWhenRefused() {
        allow(OptionalLong.of(2 * GIB + 2500));
        VolumeId.Provisioned one = withBytes("one", 1000);
        VolumeId.Provisioned two = withBytes("two", 1000);
        world.domain.groupSnapshots().create("both", List.of(one, two));
        List<String> before = world.ceph.everything();
        refused(() -> world.domain.groupSnapshots().create("again", List.of(one, two)));
        assertEquals(before, world.ceph.everything());
    }

    @Test
    void clonesAndCopiesCountLikeAnyVolume() {
        VolumeId.Provisioned volume = world.create(of(2 * GIB, "two"));
        SnapshotId snapshot = world.snapshot(volume, "s");
        VolumeRequest clone = filledFrom(new ContentSource.FromSnapshot(snapshot), of(2 * GIB, "clone"));
        assertEquals(4 * GIB, committed(world.create(clone)));
        assertEquals(4 * GIB, committed(world.create(clone)), "again");
        refused(() -> world.create(filledFrom(new ContentSource.FromSnapshot(snapshot), of(2 * GIB, "another"))));
        VolumeRequest shallow = readOnly(filledFrom(new ContentSource.FromSnapshot(snapshot), of(2 * GIB, "shallow")));
        assertEquals(4 * GIB, committed(world.create(shallow)), "one that is a snapshot holds nothing");
    }

    @Test
    void aCloneThatIsUnderWayCountsForANewLeader() {
        world.ceph.clonesTake(Integer.MAX_VALUE);
        VolumeId.Provisioned volume = world.create(of(2 * GIB, "two"));
        SnapshotId snapshot = world.snapshot(volume, "s");
        world.timeLeft.set(java.time.Duration.ofSeconds(1));
        VolumeRequest clone = filledFrom(new ContentSource.FromSnapshot(snapshot), of(2 * GIB, "clone"));
        assertThrows(DriverException.OperationPending.class, () -> world.create(clone));
        world.timeLeft.set(java.time.Duration.ofSeconds(30));
        refused(() -> world.create(of(1, "byte")));
        world.restart();
        refused(() -> world.create(of(1, "byte")));
        world.ceph.endClones();
        assertEquals(4 * GIB, committed(world.create(clone)));
    }

    @Test
    void anOutcomeThatIsNotKnownFreesNothing() {
        world.create(of(GIB, "one"));
        world.restart((call, make) -> {
            if (call.method().equals("create")) {
                throw new DriverException.BackendUnavailable("may still take effect");
            }
            return make.get();
        });
        assertThrows(DriverException.BackendUnavailable.class, () -> world.create(of(3 * GIB, "three")));
        refused(() -> world.create(of(GIB, "other")));
    }

    @Test
    void whatCephRefusedIsFree() {
        AtomicInteger calls = new AtomicInteger();
        world.restart((call, make) -> {
            if (call.method().equals("create") && calls.getAndIncrement() == 0) {
                throw new DriverException.InvalidRequest("no");
            }
            return make.get();
        });
        assertThrows(DriverException.InvalidRequest.class, () -> world.create(of(4 * GIB, "first")));
        world.create(of(4 * GIB, "second"));
    }

    @Test
    void oneOfManyAtOnceGetsTheLast() throws Exception {
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Optional<VolumeId.Provisioned>>> all = IntStream.range(0, 64)
                    .mapToObj(number -> callers.submit(() -> {
                        try {
                            return Optional.of(world.create(request("volume-" + number)));
                        } catch (DriverException.QuotaExhausted beyond) {
                            return Optional.<VolumeId.Provisioned>empty();
                        }
                    }))
                    .toList();
            int made = 0;
            for (Future<Optional<VolumeId.Provisioned>> each : all) {
                made += each.get().isPresent() ? 1 : 0;
            }
            assertEquals(4, made);
        }
    }

    @Test
    void theClassSaysWhatTheDirectoryDoesNot() {
        allow(OptionalLong.empty());
        VolumeId.Provisioned one = world.create(request("one", Map.of("allowance", "2Gi")));
        assertEquals(OptionalLong.of(2 * GIB), quota(one));
        refused(() -> world.create(sized(new CapacityRange(2 * GIB, 0), request("two", Map.of("allowance", "2Gi")))));
        world.create(sized(new CapacityRange(2 * GIB, 0), request("two", Map.of("allowance", "3Gi"))));
        assertEquals(OptionalLong.of(3 * GIB), quota(one), "the group follows the class");
        allow(OptionalLong.of(4 * GIB));
        world.create(request("three", Map.of("allowance", "2Gi")));
        assertEquals(OptionalLong.of(4 * GIB), quota(one), "a personal allowance comes first");
    }

    private OptionalLong quota(VolumeId.Provisioned volume) {
        return world.ceph
                .ports()
                .subvolumes()
                .groupUsage(SubvolumeGroup.of(volume))
                .orElseThrow()
                .quotaBytes();
    }

    @Test
    void overcommitCountsWhatIsWritten() {
        allow(OptionalLong.of(3000));
        Map<String, String> overcommit = Map.of("overcommit", "true");
        VolumeId.Provisioned one = world.create(request("one", overcommit));
        world.create(request("two", overcommit));
        world.ceph.write(one, "file", "x".repeat(1000));
        world.snapshot(one, "s1");
        assertEquals(3 * GIB, world.domain.volumes().expand(one, new CapacityRange(3 * GIB, 0)));
        world.restart();
        world.create(request("three", overcommit));
        world.snapshot(one, "s2");
        refused(() -> world.snapshot(one, "s3"));
        refused(() -> world.create(request("four", overcommit)));
    }

    @Test
    void sizesThatNoNumberHoldsTogetherLeaveNothing() {
        long tib = 1024 * GIB;
        allow(OptionalLong.of(tib));
        Map<String, String> overcommit = Map.of("overcommit", "true");
        List<VolumeId.Provisioned> huge = new ArrayList<>();
        for (long size : List.of(Long.MAX_VALUE, 1L << 62)) {
            huge.add(world.create(sized(new CapacityRange(size, 0), request("huge-" + size, overcommit))));
        }
        assertEquals(Long.MAX_VALUE, committed(huge.getFirst()));
        assertTrue(refused(() -> world.create(of(tib, "plain"))).contains(" has 0 B left "));
        world.restart();
        refused(() -> world.create(of(tib, "plain")));
        refused(() -> world.create(of(1, "byte")));
        assertEquals(0, world.domain.capacities().available(request("any").parameters()));
        world.domain.volumes().delete(huge.getFirst());
        assertEquals(1L << 62, committed(huge.getLast()));
        refused(() -> world.create(of(1, "byte")));
        world.domain.volumes().delete(huge.getLast());
        world.create(of(tib, "plain"));
        refused(() -> world.create(of(1, "byte")));
    }

    @Test
    void capacityIsWhatIsLeft() {
        VolumeClass parameters = request("any").parameters();
        assertEquals(4 * GIB, world.domain.capacities().available(parameters));
        world.create(of(3 * GIB, "three"));
        assertEquals(GIB, world.domain.capacities().available(parameters));
        world.restart();
        assertEquals(GIB, world.domain.capacities().available(parameters));
    }

    @Test
    void withoutAnAllowanceNothingIsAddedUp() {
        allow(OptionalLong.empty());
        List<String> calls = new ArrayList<>();
        world.restart((call, make) -> {
            calls.add(call.method());
            return make.get();
        });
        VolumeId.Provisioned volume = world.create(of(1000 * GIB, "large"));
        world.snapshot(volume, "s");
        world.domain.volumes().expand(volume, new CapacityRange(2000 * GIB, 0));
        assertTrue(calls.stream().noneMatch(Set.of("holdings", "measure", "writtenBytes")::contains), calls::toString);
    }
}

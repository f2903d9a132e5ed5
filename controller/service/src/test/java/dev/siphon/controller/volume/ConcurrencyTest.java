package dev.siphon.controller.volume;

import static dev.siphon.controller.volume.World.GIB;
import static dev.siphon.controller.volume.World.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/// Many concurrent callers.
final class ConcurrencyTest {
    private static final int CALLERS = 64;
    private static final int NAMES = 8;

    private final World world = new World();

    /// Delays every call, so that operations overlap.
    private void slow() {
        world.restart((_, make) -> {
            LockSupport.parkNanos(Duration.ofMillis(2).toNanos());
            return make.get();
        });
    }

    private static <T> List<T> atOnce(int callers, java.util.function.IntFunction<Callable<T>> call) throws Exception {
        CountDownLatch start = new CountDownLatch(1);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<T>> running = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                Callable<T> each = call.apply(i);
                running.add(threads.submit(() -> {
                    start.await();
                    return each.call();
                }));
            }
            start.countDown();
            List<T> results = new ArrayList<>();
            for (Future<T> each : running) {
                results.add(each.get());
            }
            return results;
        }
    }

    @Test
    void sixtyFourCallersOnEightNamesMakeEightVolumes() throws Exception {
        slow();
        AtomicInteger pending = new AtomicInteger();
        List<VolumeId> ids = atOnce(CALLERS, caller -> () -> {
            while (true) {
                try {
                    return world.create(request("pvc-" + caller % NAMES));
                } catch (DriverException.OperationPending again) {
                    pending.incrementAndGet();
                    LockSupport.parkNanos(100_000);
                }
            }
        });
        assertEquals(NAMES, new HashSet<>(ids).size());
        for (int caller = 0; caller < CALLERS; caller++) {
            assertEquals(ids.get(caller % NAMES), ids.get(caller));
        }
        assertEquals(NAMES, world.ceph.everything().size());
        assertTrue(pending.get() > 0, "they did meet");
    }

    /// Ceph's create silently resizes an existing subvolume, so it must never be sent for one.
    @Test
    void createIsNeverSentForWhatExistsWhateverElseHappensToIt() throws Exception {
        Subvolumes look = world.ceph.ports().subvolumes();
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        Set<String> busy = ConcurrentHashMap.newKeySet();
        Set<String> changes = Set.of("create", "remove", "resize");
        world.restart((call, make) -> {
            LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
            if (!changes.contains(call.method())) {
                return make.get();
            }
            VolumeId.Provisioned volume =
                    (VolumeId.Provisioned) call.arguments().getFirst();
            if (!busy.add(volume.toString())) {
                wrong.add(call + " beside another change of the same volume");
            }
            if (call.method().equals("create")
                    && look.find(volume)
                            .filter(found -> found.state() == Subvolumes.Subvolume.State.READY)
                            .isPresent()) {
                wrong.add(call + " over an existing volume");
            }
            try {
                return make.get();
            } finally {
                busy.remove(volume.toString());
            }
        });
        Map<String, VolumeId.Provisioned> known = new ConcurrentHashMap<>();
        atOnce(24, caller -> () -> {
            String name = "pvc-" + caller % 2;
            for (int round = 0; round < 20; round++) {
                try {
                    switch ((caller + round) % 3) {
                        case 0 -> known.put(name, world.create(request(name)));
                        case 1 -> {
                            if (known.containsKey(name)) {
                                world.domain.volumes().delete(known.get(name));
                            }
                        }
                        default -> {
                            if (known.containsKey(name)) {
                                world.domain.volumes().expand(known.get(name), new CapacityRange(2 * GIB, 0));
                            }
                        }
                    }
                } catch (DriverException.OperationPending | DriverException.NotFound expected) {
                    LockSupport.parkNanos(100_000);
                }
            }
            return caller;
        });
        assertEquals(List.of(), List.copyOf(wrong));
    }

    @Test
    void aSnapshotIsDeletedOrUsedButNotBoth() throws Exception {
        slow();
        VolumeId.Provisioned source = world.volumeWithFile("source");
        for (int round = 0; round < 10; round++) {
            var snapshot = world.snapshot(source, "snap-" + round);
            String name = "view-" + round;
            VolumeRequest view =
                    World.readOnly(World.filledFrom(new ContentSource.FromSnapshot(snapshot), request(name)));
            List<Boolean> done = atOnce(2, caller -> () -> {
                try {
                    if (caller == 0) {
                        world.create(view);
                    } else {
                        world.domain.snapshots().delete(snapshot);
                    }
                    return true;
                } catch (DriverException.OperationPending | DriverException.InUse | DriverException.NotFound refused) {
                    return false;
                }
            });
            boolean viewed = world.ceph.everything().stream().anyMatch(each -> each.contains("/r"));
            assertEquals(done.getFirst(), viewed);
            assertEquals(
                    viewed || !done.getLast(),
                    world.domain.snapshots().find(snapshot).isPresent(),
                    "round " + round);
            if (viewed) {
                world.domain.volumes().delete(world.create(view));
            }
        }
    }

    @Test
    void aKeyStaysTakenUntilTheCallThatNobodyWaitsForHasEnded() {
        CompletableFuture<Object> late = new CompletableFuture<>();
        List<Runnable> held = new ArrayList<>();
        world.restart((call, make) -> {
            if (call.method().equals("create") && held.isEmpty()) {
                held.add(() -> late.complete(java.util.Objects.requireNonNullElse(make.get(), "done")));
                KeyedOperations.outlive(late);
                throw new DriverException.DeadlinePassed("create has not been answered in time");
            }
            return make.get();
        });
        assertThrows(DriverException.DeadlinePassed.class, () -> world.create(request("pvc")));
        assertThrows(DriverException.OperationPending.class, () -> world.create(request("pvc")));
        held.getFirst().run();
        VolumeId.Provisioned id = world.create(request("pvc"));
        assertEquals(
                List.of(id),
                world.domain.listings().volumes(0, "").entries().stream()
                        .map(Volume::id)
                        .toList());
        assertEquals(1, world.ceph.everything().size());
    }
}

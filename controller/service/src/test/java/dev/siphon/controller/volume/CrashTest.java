package dev.siphon.controller.volume;

import static dev.siphon.controller.volume.World.GIB;
import static dev.siphon.controller.volume.World.filledFrom;
import static dev.siphon.controller.volume.World.readOnly;
import static dev.siphon.controller.volume.World.request;
import static dev.siphon.controller.volume.World.sized;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.siphon.controller.volume.InterceptedPorts.Call;
import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// Kills the controller before and after each of its calls to Ceph, starts another, and lets the caller retry. The
/// cluster must end as after an undisturbed run: exactly one of everything, and no orphan. Repeats this with a call
/// whose reply is lost, which the controller survives.
final class CrashTest {
    /// The controller's death, which none of its code catches.
    private static final class Killed extends Error {
        private static final long serialVersionUID = 1L;
    }

    /// A caller's request.
    ///
    /// @param prepare creates the preconditions
    /// @param ask may be interrupted at any call
    private record Story<T>(String name, Function<World, T> prepare, Teller<T> ask) {}

    @FunctionalInterface
    private interface Teller<T> {
        void tell(World world, T prepared);
    }

    private static final List<Story<?>> STORIES = List.of(
            new Story<>("first volume of an account", _ -> "", (world, _) -> world.create(request("pvc"))),
            new Story<>(
                    "volume with all attributes",
                    world -> world.create(request("other")),
                    (world, _) -> world.create(
                            request("pvc", Map.of("mode", "0750", "quotaFiles", "5", "dataPool", "fast")))),
            new Story<>(
                    "delete a volume",
                    world -> world.create(request("pvc")),
                    (world, id) -> world.domain.volumes().delete(id)),
            new Story<>(
                    "delete a volume with snapshots",
                    world -> {
                        VolumeId.Provisioned id = world.volumeWithFile("pvc");
                        world.snapshot(id, "snap");
                        return id;
                    },
                    (world, id) -> world.domain.volumes().delete(id)),
            new Story<>(
                    "expand",
                    world -> world.create(request("pvc")),
                    (world, id) -> world.domain.volumes().expand(id, new CapacityRange(3 * GIB, 0))),
            new Story<>(
                    "modify",
                    world -> world.create(request("pvc")),
                    (world, id) -> world.domain
                            .volumes()
                            .modify(id, new MutableParameters(OptionalLong.of(7), OptionalInt.of(0711)))),
            new Story<>("snapshot", world -> world.volumeWithFile("pvc"), (world, id) -> world.snapshot(id, "snap")),
            new Story<>(
                    "delete a snapshot",
                    world -> world.snapshot(world.volumeWithFile("pvc"), "snap"),
                    (world, id) -> world.domain.snapshots().delete(id)),
            new Story<>(
                    "delete the last snapshot of a volume that is gone",
                    world -> {
                        VolumeId.Provisioned id = world.volumeWithFile("pvc");
                        SnapshotId snapshot = world.snapshot(id, "snap");
                        world.domain.volumes().delete(id);
                        return snapshot;
                    },
                    (world, id) -> world.domain.snapshots().delete(id)),
            new Story<>(
                    "clone a volume",
                    world -> world.volumeWithFile("pvc"),
                    (world, id) -> world.create(
                            filledFrom(new ContentSource.FromVolume(id), request("copy", Map.of("mode", "0755"))))),
            new Story<>(
                    "volume from a snapshot",
                    world -> world.snapshot(world.volumeWithFile("pvc"), "snap"),
                    (world, id) -> world.create(filledFrom(new ContentSource.FromSnapshot(id), request("copy")))),
            new Story<>(
                    "copy a volume to another account",
                    world -> world.volumeWithFile("pvc"),
                    (world, id) -> world.create(filledFrom(
                            new ContentSource.FromVolume(id),
                            request("copy", Map.of("owner", "u2", "copyAcrossAccounts", "true"))))),
            new Story<>(
                    "copy a snapshot to another account",
                    world -> world.snapshot(world.volumeWithFile("pvc"), "snap"),
                    (world, id) -> world.create(filledFrom(
                            new ContentSource.FromSnapshot(id),
                            request("copy", Map.of("owner", "u2", "copyAcrossAccounts", "true"))))),
            new Story<>(
                    "volume that is a snapshot",
                    world -> world.snapshot(world.volumeWithFile("pvc"), "snap"),
                    (world, id) ->
                            world.create(readOnly(filledFrom(new ContentSource.FromSnapshot(id), request("view"))))),
            new Story<>(
                    "delete a volume that is a snapshot, and that",
                    world -> {
                        SnapshotId snapshot = world.snapshot(world.volumeWithFile("pvc"), "snap");
                        VolumeId.Provisioned view = world.create(
                                readOnly(filledFrom(new ContentSource.FromSnapshot(snapshot), request("view"))));
                        return Map.entry(view, snapshot);
                    },
                    (world, both) -> {
                        world.domain.volumes().delete(both.getKey());
                        world.domain.snapshots().delete(both.getValue());
                    }),
            new Story<>(
                    "group of snapshots",
                    world -> List.<VolumeId>of(
                            world.volumeWithFile("pvc-1"), world.create(request("pvc-2")), world.create(request("x"))),
                    (world, ids) -> world.domain.groupSnapshots().create("group", ids)),
            new Story<>(
                    "delete a group of snapshots",
                    world -> world.domain
                            .groupSnapshots()
                            .create("group", List.of(world.volumeWithFile("pvc-1"), world.create(request("pvc-2")))),
                    (world, group) -> world.domain
                            .groupSnapshots()
                            .delete(
                                    group.id(),
                                    group.snapshots().stream()
                                            .map(SnapshotView::id)
                                            .toList())),
            new Story<>(
                    "first volume that is a home",
                    _ -> "",
                    (world, _) -> world.create(request("pvc", Map.of("kind", "home", "quotaFiles", "5")))),
            new Story<>(
                    "second volume that is a home, and larger",
                    world -> world.create(request("pvc", Map.of("kind", "home"))),
                    (world, _) -> world.create(
                            sized(new CapacityRange(2 * GIB, 0), request("pvc-2", Map.of("kind", "home"))))),
            new Story<>(
                    "delete a volume that is a home",
                    world -> world.create(request("pvc", Map.of("kind", "home"))),
                    (world, id) -> world.domain.volumes().delete(id)),
            new Story<>("attach and detach", world -> world.create(request("pvc")), (world, id) -> {
                world.domain.attachments().attach(id, "node-1@192.0.2.1", ClaimAccessMode.SINGLE_NODE_WRITER, false);
                world.domain.attachments().detach(id, Optional.empty());
            }));

    @TestFactory
    Stream<DynamicTest> killedBeforeAndAfterEachCall() {
        return STORIES.stream().flatMap(story -> ends(story, (point, after) -> kill(story, point, after)));
    }

    @TestFactory
    Stream<DynamicTest> answerOfEachCallLost() {
        return STORIES.stream().flatMap(story -> ends(story, (point, after) -> lose(story, point, after)));
    }

    private interface Ending {
        void at(int point, boolean after);
    }

    private static <T> Stream<DynamicTest> ends(Story<T> story, Ending ending) {
        List<String> calls = calls(story);
        assertTrue(!calls.isEmpty(), story.name());
        List<DynamicTest> tests = new ArrayList<>();
        for (int i = 0; i < calls.size(); i++) {
            int point = i;
            String name = story.name() + ", call " + (i + 1) + " of " + calls.size() + ", " + calls.get(i);
            tests.add(dynamicTest("before: " + name, () -> ending.at(point, false)));
            tests.add(dynamicTest("after: " + name, () -> ending.at(point, true)));
        }
        return tests.stream();
    }

    private static <T> List<String> calls(Story<T> story) {
        List<String> calls = new ArrayList<>();
        undisturbed(story, call -> calls.add(call.method()));
        return calls;
    }

    private static <T> World undisturbed(Story<T> story, Consumer<Call> see) {
        World world = new World();
        world.ceph.clonesTake(0);
        T prepared = story.prepare().apply(world);
        world.restart((call, make) -> {
            see.accept(call);
            return make.get();
        });
        story.ask().tell(world, prepared);
        return world;
    }

    private static <T> void kill(Story<T> story, int point, boolean after) {
        World world = new World();
        world.ceph.clonesTake(0);
        T prepared = story.prepare().apply(world);
        int[] calls = {0};
        world.restart((_, make) -> {
            if (calls[0] > point) {
                throw new Killed(); // a dead controller makes no more calls
            }
            if (calls[0]++ == point) {
                if (after) {
                    var _ = make.get();
                }
                throw new Killed();
            }
            return make.get();
        });
        assertThrows(Killed.class, () -> story.ask().tell(world, prepared));
        world.restart();
        retry(() -> story.ask().tell(world, prepared));
        assertEquals(undisturbed(story, _ -> {}).ceph.everything(), world.ceph.everything());
    }

    private static <T> void lose(Story<T> story, int point, boolean after) {
        World world = new World();
        world.ceph.clonesTake(0);
        T prepared = story.prepare().apply(world);
        int[] calls = {0};
        world.restart((call, make) -> {
            if (calls[0]++ == point) {
                if (after) {
                    var _ = make.get();
                }
                throw new DriverException.DeadlinePassed(call.method() + " was not answered");
            }
            return make.get();
        });
        retry(() -> story.ask().tell(world, prepared));
        assertEquals(undisturbed(story, _ -> {}).ceph.everything(), world.ceph.everything());
    }

    /// Retries every error that CSI allows to retry.
    private static void retry(Runnable ask) {
        Supplier<Optional<DriverException>> once = () -> {
            try {
                ask.run();
                return Optional.empty();
            } catch (DriverException.OperationPending
                    | DriverException.BackendUnavailable
                    | DriverException.DeadlinePassed again) {
                return Optional.of(again);
            }
        };
        Optional<DriverException> failed = Optional.empty();
        for (int tries = 0; tries < 4; tries++) {
            failed = once.get();
            if (failed.isEmpty()) {
                return;
            }
        }
        throw failed.orElseThrow();
    }
}

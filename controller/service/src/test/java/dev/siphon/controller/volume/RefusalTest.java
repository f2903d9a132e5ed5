package dev.siphon.controller.volume;

import static dev.siphon.controller.volume.World.filledFrom;
import static dev.siphon.controller.volume.World.readOnly;
import static dev.siphon.controller.volume.World.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.siphon.controller.volume.InterceptedPorts.Call;
import dev.siphon.controller.volume.InterceptedPorts.Interceptor;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// Makes each call of a request fail with every code, before and after its effect, once or until the claim is
/// deleted. Then the claim is deleted, as Kubernetes' sidecar does it. After a final code the sidecar neither
/// retries nor deletes. Otherwise it retries until the operation has ended, and deletes the result. Nothing may be
/// left.
final class RefusalTest {
    private static final Map<String, Function<String, DriverException>> CODES = new TreeMap<>(Map.of(
            "INVALID_ARGUMENT", DriverException.InvalidRequest::new,
            "NOT_FOUND", DriverException.NotFound::new,
            "ALREADY_EXISTS", DriverException.IncompatibleExisting::new,
            "ABORTED", DriverException.OperationPending::new,
            "FAILED_PRECONDITION", DriverException.InUse::new,
            "OUT_OF_RANGE", DriverException.CapacityOutOfRange::new,
            "RESOURCE_EXHAUSTED", DriverException.QuotaExhausted::new,
            "PERMISSION_DENIED", DriverException.AccessDenied::new,
            "UNAVAILABLE", DriverException.BackendUnavailable::new,
            "INTERNAL", DriverException.BackendFault::new));

    /// Attempts of a sidecar before the claim is deleted, and the most attempts after that.
    private static final int TRIES = 3;

    /// The claim's namespace, as the provisioner passes it.
    private static final Map<String, String> CLAIM = Map.of("csi.storage.k8s.io/pvc/namespace", "team");

    /// The request of a claim or a VolumeSnapshot.
    ///
    /// @param prepare creates the preconditions
    /// @param make may be refused at any call
    /// @param delete deletes the result
    private record Story<T, R>(String name, Function<World, T> prepare, Maker<T, R> make, Deleter<R> delete) {}

    @FunctionalInterface
    private interface Maker<T, R> {
        R make(World world, T prepared);
    }

    @FunctionalInterface
    private interface Deleter<R> {
        void delete(World world, R made);
    }

    private static <T> Story<T, Volume> volume(
            String name, Function<World, T> prepare, Function<T, VolumeRequest> request) {
        return new Story<>(
                name,
                prepare,
                (world, prepared) -> world.domain.volumes().create(request.apply(prepared)),
                (world, made) -> world.domain.volumes().delete(made.id()));
    }

    private static VolumeRequest claimed(String name, Map<String, String> parameters) {
        Map<String, String> all = new TreeMap<>(parameters);
        all.putAll(CLAIM);
        return request(name, all);
    }

    private static final List<Story<?, ?>> STORIES = List.of(
            volume("first volume of an account", _ -> "", _ -> claimed("pvc", Map.of())),
            volume(
                    "volume with all attributes",
                    world -> world.create(request("other")),
                    _ -> claimed("pvc", Map.of("mode", "0750", "quotaFiles", "5", "dataPool", "fast"))),
            volume(
                    "clone of a volume",
                    world -> world.volumeWithFile("source"),
                    source -> filledFrom(new ContentSource.FromVolume(source), claimed("pvc", Map.of("mode", "0755")))),
            volume(
                    "volume from a snapshot",
                    world -> world.snapshot(world.volumeWithFile("source"), "snap"),
                    snapshot -> filledFrom(new ContentSource.FromSnapshot(snapshot), claimed("pvc", Map.of()))),
            volume(
                    "copy to another account",
                    world -> world.volumeWithFile("source"),
                    source -> filledFrom(
                            new ContentSource.FromVolume(source),
                            claimed("pvc", Map.of("owner", "u2", "copyAcrossAccounts", "true")))),
            volume(
                    "volume that is a snapshot",
                    world -> world.snapshot(world.volumeWithFile("source"), "snap"),
                    snapshot ->
                            readOnly(filledFrom(new ContentSource.FromSnapshot(snapshot), claimed("pvc", Map.of())))),
            volume(
                    "second alias of a home",
                    world -> world.create(request("other", Map.of("kind", "home"))),
                    _ -> claimed("pvc", Map.of("kind", "home"))),
            new Story<>(
                    "snapshot",
                    world -> world.volumeWithFile("source"),
                    (world, source) -> world.domain.snapshots().create(source, "snap"),
                    (world, taken) -> world.domain.snapshots().delete(taken.id())),
            new Story<>(
                    "group of snapshots",
                    world -> List.of(world.volumeWithFile("a"), world.create(request("b"))),
                    (world, sources) -> world.domain.groupSnapshots().create("group", List.copyOf(sources)),
                    (world, group) -> world.domain
                            .groupSnapshots()
                            .delete(
                                    group.id(),
                                    group.snapshots().stream()
                                            .map(SnapshotView::id)
                                            .toList())));

    @TestFactory
    Stream<DynamicTest> nothingIsLeftOfWhatWasRefused() {
        return STORIES.stream().flatMap(RefusalTest::refusals);
    }

    private static <T, R> Stream<DynamicTest> refusals(Story<T, R> story) {
        List<String> calls = calls(story);
        assertTrue(calls.size() > 1, story.name());
        List<DynamicTest> tests = new ArrayList<>();
        for (int i = 0; i < calls.size(); i++) {
            int point = i;
            for (Map.Entry<String, Function<String, DriverException>> code : CODES.entrySet()) {
                for (String when : List.of("before", "after", "before, from then on", "after, from then on")) {
                    String name = story.name() + ": call " + (i + 1) + " of " + calls.size() + ", " + calls.get(i)
                            + ": " + code.getKey() + ", " + when;
                    tests.add(dynamicTest(
                            name,
                            () -> refuse(
                                    story,
                                    new Refuser(
                                            point,
                                            code.getValue(),
                                            when.startsWith("after"),
                                            when.endsWith("on"),
                                            new ArrayList<>(),
                                            new AtomicBoolean()))));
                }
            }
        }
        return tests.stream();
    }

    /// Makes a call fail.
    ///
    /// @param point the call's index
    /// @param stays whether equal calls keep failing until `mended`
    /// @param seen the calls so far
    private record Refuser(
            int point,
            Function<String, DriverException> code,
            boolean after,
            boolean stays,
            List<Call> seen,
            AtomicBoolean mended)
            implements Interceptor {
        @Override
        public Object around(Call call, Supplier<Object> make) {
            seen.add(call);
            boolean mine = seen.size() == point + 1 || (stays && seen.size() > point && call.equals(seen.get(point)));
            if (!mine || mended.get()) {
                return make.get();
            }
            if (after) {
                var _ = make.get();
            }
            throw code.apply(call.method() + " is made to fail");
        }
    }

    private static <T, R> List<String> calls(Story<T, R> story) {
        World world = new World();
        world.ceph.clonesTake(0);
        T prepared = story.prepare().apply(world);
        List<String> calls = new ArrayList<>();
        world.restart((call, make) -> {
            calls.add(call.method());
            return make.get();
        });
        var _ = story.make().make(world, prepared);
        return calls;
    }

    private static <T, R> void refuse(Story<T, R> story, Refuser refuser) {
        World world = new World();
        world.ceph.clonesTake(0);
        T prepared = story.prepare().apply(world);
        List<String> before = world.ceph.everything();
        Set<?> keys = Set.copyOf(world.keys);
        world.restart(refuser);
        boolean ended = false;
        for (int tries = 0; tries < 2 * TRIES && !ended; tries++) {
            // the claim is deleted, and the fault is repaired
            refuser.mended().set(tries >= TRIES);
            ended = ask(story, world, prepared, refuser.mended());
        }
        assertTrue(ended, "the sidecar asks for ever");
        assertEquals(before, world.ceph.everything());
        assertEquals(keys, world.keys);
        assertEquals(Set.of(), world.leaving);
    }

    /// @return whether the sidecar is done
    private static <T, R> boolean ask(Story<T, R> story, World world, T prepared, AtomicBoolean mended) {
        try {
            R made = story.make().make(world, prepared);
            mended.set(true);
            story.delete().delete(world, made);
            return true;
        } catch (DriverException refused) {
            return Refusal.isFinal(refused);
        }
    }
}

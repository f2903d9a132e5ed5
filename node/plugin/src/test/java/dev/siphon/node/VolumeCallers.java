package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Workplace;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/// Many callers stage and publish one volume concurrently, and undo it, also against each other. Each call must
/// return OK or ABORTED, and can be retried after ABORTED.
final class VolumeCallers {
    private static final long LIMIT_SECONDS = 120;

    private final Map<String, LongAdder> answers = new ConcurrentSkipListMap<>();
    private final NodeProcess node;
    private final Lab.Volume volume;
    private final Mode mode;
    private final Path staging;
    private final List<Path> targets;

    private record Call(String name, Runnable body) {}

    /// @param directory for the paths of the volume
    /// @param mode the access mode to stage and publish with
    VolumeCallers(NodeProcess node, Lab.Volume volume, Mode mode, Workplace workplace, String directory) {
        this.node = node;
        this.volume = volume;
        this.mode = mode;
        this.staging = workplace.directory(directory + "/staging");
        this.targets = List.of(
                workplace.directory(directory + "/one").resolve("target"),
                workplace.directory(directory + "/two").resolve("target"));
    }

    /// Returns how often each call returned each code.
    Map<String, LongAdder> answers() {
        return answers;
    }

    /// Runs a whole life of the volume with `callers` concurrent callers: stage, publish, unpublish, unstage, while
    /// others do the opposite. Checks the mounts in between.
    void live(int callers) throws Exception {
        callAtOnce(callers, List.of(stage()));
        repeat(stage());
        assertEquals(1, mountsBelow(staging));

        callAtOnce(callers, List.of(stage(), publish(0), publish(1), publish(0)));
        repeat(publish(0));
        repeat(publish(1));
        targets.forEach(target -> assertEquals(1, mountsBelow(target), target::toString));

        callAtOnce(callers, List.of(publish(0), unpublish(0), unpublish(1), publish(1)));
        repeat(unpublish(0));
        repeat(unpublish(1));
        targets.forEach(target -> assertEquals(0, mountsBelow(target), target::toString));

        callAtOnce(callers, List.of(unstage(), stage()));
        repeat(unstage());
        assertEquals(0, mountsBelow(staging));
    }

    private Call stage() {
        return new Call("stage", () -> node.stub().nodeStageVolume(Requests.stage(volume, staging, mode)));
    }

    private Call publish(int target) {
        return new Call(
                "publish",
                () -> node.stub().nodePublishVolume(Requests.publish(volume, staging, targets.get(target), mode)));
    }

    private Call unpublish(int target) {
        return new Call(
                "unpublish", () -> node.stub().nodeUnpublishVolume(Requests.unpublish(volume, targets.get(target))));
    }

    private Call unstage() {
        return new Call("unstage", () -> node.stub().nodeUnstageVolume(Requests.unstage(volume, staging)));
    }

    /// @param calls distributed to the callers in turn
    private void callAtOnce(int callers, List<Call> calls) throws Exception {
        List<Callable<Code>> wanted = new ArrayList<>();
        for (int i = 0; i < callers; i++) {
            Call call = calls.get(i % calls.size());
            wanted.add(() -> answer(call));
        }
        var _ = NodeConcurrencyIT.atOnce(wanted);
    }

    /// Retries the call until it returns OK, as a CO does.
    private void repeat(Call call) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (answer(call) != Code.OK) {
            assertTrue(System.nanoTime() < end, () -> call.name() + " of " + volume.id() + " is ABORTED for ever");
        }
    }

    private Code answer(Call call) {
        Code code = Code.OK;
        try {
            call.body().run();
        } catch (StatusRuntimeException e) {
            code = e.getStatus().getCode();
            assertEquals(Code.ABORTED, code, () -> call.name() + " of " + volume.id() + ": " + e.getMessage());
        }
        answers.computeIfAbsent(call.name() + " " + code, _ -> new LongAdder()).increment();
        return code;
    }

    private static long mountsBelow(Path path) {
        return MountTable.read().entries().stream()
                .filter(entry -> Path.of(entry.mountPoint()).startsWith(path))
                .count();
    }
}

package dev.siphon.node.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.node.device.DeviceClaims.Answer;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.topology.CacheRanking;
import dev.siphon.node.topology.RecordedMachine;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A running pod gains and loses GPUs, on a machine with two sockets and two disks on each.
@Timeout(30)
final class RunningPodCachesTest {
    private static final Pod POD = new Pod("u1", "train", "1-2-3");

    @TempDir
    private Path folder = Path.of("");

    private final BlockingCalls calls = new BlockingCalls();
    private final Map<Pod, List<HeldDevice>> held = new HashMap<>();

    @AfterEach
    void close() {
        calls.close();
    }

    private static List<HeldDevice> gpus(String holder, String sockets) {
        return IntStream.range(0, sockets.length())
                .mapToObj(index -> new HeldDevice(
                        "nvidia.com/gpu",
                        List.of("GPU-" + holder + "-" + index),
                        Set.of(Character.digit(sockets.charAt(index), 10))))
                .toList();
    }

    /// Sets the held GPUs: one digit per GPU, the digit is its socket. The pod's own GPUs come first, then after
    /// each `+` those of a pod that holds GPUs for it.
    private void hold(String what) {
        held.clear();
        String[] parts = what.split("\\+", -1);
        held.put(Pod.named(POD.namespace(), POD.name()), gpus("own", parts[0]));
        for (int index = 1; index < parts.length; index++) {
            held.put(Pod.named("gpu-pool", "train-slave-pod-" + index), gpus("slave-" + index, parts[index]));
        }
    }

    private static String sockets(CacheRanking ranking) {
        return ranking.nearest().stream()
                .map(path -> path.toString().matches(".*nvme[01]/.*") ? "0" : "1")
                .distinct()
                .collect(Collectors.joining());
    }

    /// The pod's GPUs at each check, and the socket with the nearest disks. `-` means no preference, so
    /// everything stays in place.
    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "the first of two that were added is taken | -  +0  +0+1  +1       | -  0  -  1",
                "the last of two that were added is taken  | -  +1  +1+0  +1       | -  1  -  1",
                "one of three is taken, and most are there | +0+0+1  +0+1  +1       | 0   -  1",
                "what was added to its own is taken again  | 0   0+1   0+1+1  0     | 0   -  1  0",
                "several that one pod holds go at once     | 0+11  0                | 1   0",
                "one is exchanged for one elsewhere        | +0  +1  +0             | 0   1   0",
                "none is left: it prefers nothing          | +1  +1+0  +0  -       | 1   -  0  -",
                "none is left, and then one comes          | +0  -  +1             | 0   -  1",
            })
    void aPodIsRankedByWhatItHasNow(String what, String looks, String nearest) {
        Machine machine = new Machine(
                RecordedMachine.in(folder, "two-sockets"), List.of(disk(0), disk(1), disk(2), disk(3)), calls);
        RunningPodCaches running = new RunningPodCaches(
                () -> Optional.of(held),
                (_, _) -> new Answer.Held(List.of()),
                new NearestCaches(PodDevices.NOBODY, machine));
        StringBuilder seen = new StringBuilder();
        for (String look : looks.strip().split(" +", -1)) {
            hold(look.replace("-", ""));
            String now = Optional.ofNullable(running.rank(List.of(POD)).get(POD))
                    .orElseThrow()
                    .map(RunningPodCachesTest::sockets)
                    .orElse("");
            seen.append(now.isEmpty() ? "-" : now).append(' ');
        }
        assertEquals(nearest.strip().replaceAll(" +", " "), seen.toString().strip(), what);
    }

    private static Path disk(int number) {
        return Path.of("/mnt/nvme" + number + "/siphon");
    }
}

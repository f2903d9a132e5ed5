package dev.siphon.node.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.device.PodDevices.Answer;
import dev.siphon.node.pod.Pod;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ClaimedDevicesTest {
    private static final Pod POD = new Pod("u1", "train", "1-2-3");
    private static final Duration LIMIT = Duration.ofSeconds(2);

    /// Parses an answer; `?` stands for unknown.
    private static Answer answer(String devices) {
        return devices.equals("?")
                ? new Answer.Unknown("it hangs")
                : new Answer.Held(Arrays.stream(devices.split(" "))
                        .filter(each -> !each.isEmpty())
                        .map(each -> new HeldDevice(each, List.of("0"), Set.of()))
                        .toList());
    }

    /// Parses an answer about claims; `!` stands for a refusal.
    private static DeviceClaims.Answer claims(String devices) {
        if (devices.equals("!")) {
            return new DeviceClaims.Answer.Refused("this node may not");
        }
        return switch (answer(devices)) {
            case Answer.Held(var held) -> new DeviceClaims.Answer.Held(held);
            case Answer.Unknown(var why) -> new DeviceClaims.Answer.Unknown(why);
        };
    }

    @ParameterizedTest(name = "kubelet {0}, claims {1}")
    @CsvSource({
        "nvidia.com/gpu, gpu.nvidia.com,                nvidia.com/gpu",
        "rdma/hca,       gpu.nvidia.com,                rdma/hca gpu.nvidia.com",
        "rdma/hca,       '',                            rdma/hca",
        "rdma/hca,       ?,                             rdma/hca",
        "rdma/hca,       !,                             rdma/hca",
        "'',             !,                             ''",
        "?,              !,                             ?",
        "'',             gpu.nvidia.com nic.nvidia.com, gpu.nvidia.com nic.nvidia.com",
        "'',             '',                            ''",
        "'',             ?,                             ?",
        "?,              gpu.nvidia.com,                gpu.nvidia.com",
        "?,              '',                            ?",
        "?,              ?,                             ?",
    })
    void claimsCountWhereTheKubeletKnowsOfNoGpu(String kubelet, String claims, String both) {
        assertEquals(answer(both), new ClaimedDevices(_ -> answer(kubelet), (_, _) -> claims(claims), LIMIT).of(POD));
    }

    @Test
    void bothTogetherHaveOneTime() {
        AtomicReference<Duration> left = new AtomicReference<>(Duration.ofDays(1));
        PodDevices late = _ -> {
            long begun = System.nanoTime();
            while (System.nanoTime() - begun < Duration.ofMillis(20).toNanos()) {
                Thread.onSpinWait();
            }
            return answer("");
        };
        var _ = new ClaimedDevices(
                        late,
                        (_, limit) -> {
                            left.set(limit);
                            return claims("");
                        },
                        Duration.ofMillis(15))
                .of(POD);
        assertEquals(Duration.ZERO, left.get());
        var _ = new ClaimedDevices(
                        late,
                        (_, limit) -> {
                            left.set(limit);
                            return claims("");
                        },
                        LIMIT)
                .of(POD);
        assertTrue(
                left.get().compareTo(LIMIT.minusMillis(20)) <= 0,
                () -> left.get().toString());
    }
}

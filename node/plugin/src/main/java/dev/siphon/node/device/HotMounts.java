package dev.siphon.node.device;

import dev.siphon.node.device.PodDevices.Answer;
import dev.siphon.node.pod.Pod;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// Finds devices that were mounted into a running pod. The kubelet gives no device to a running pod, so such tools
/// let another pod hold it. GPUMounter names that pod `NAME-slave-pod-...`, in the namespace `gpu-pool`
/// (`pkg/util/gpu/allocator`). It finds a pod's devices by that name too (`pkg/util/gpu/collector`).
public final class HotMounts {
    private static final String NAMESPACE = "gpu-pool";
    private static final String INFIX = "-slave-pod-";

    private HotMounts() {}

    /// Combines a pod's devices from the kubelet with those that other pods hold for it, matched by name.
    public static PodDevices with(PodDevices kubelet, AllPodDevices all) {
        return pod -> switch (kubelet.of(pod)) {
            case Answer.Held(var devices) ->
                new Answer.Held(Stream.concat(
                                devices.stream(), of(pod, all.all().orElse(Map.of())).stream())
                        .toList());
            case Answer.Unknown unknown -> unknown;
        };
    }

    /// Returns the devices that other pods hold for `pod`.
    ///
    /// @param all the devices of all pods of the node
    static List<HeldDevice> of(Pod pod, Map<Pod, List<HeldDevice>> all) {
        return all.entrySet().stream()
                .filter(each -> each.getKey().namespace().equals(NAMESPACE)
                        && each.getKey().name().startsWith(pod.name() + INFIX))
                .flatMap(each -> each.getValue().stream())
                .toList();
    }
}

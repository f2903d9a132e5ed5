package dev.siphon.node.device;

import dev.siphon.node.device.PodDevices.Answer;
import dev.siphon.node.pod.Pod;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// Devices that were mounted into a pod while it ran. The kubelet gives none to a running pod, so such tools have
/// another pod hold them for it. GPUMounter calls that one `NAME-slave-pod-...`, in the namespace `gpu-pool`
/// (`pkg/util/gpu/allocator`), and finds a pod's devices again by that as well (`pkg/util/gpu/collector`).
public final class HotMounts {
    private static final String NAMESPACE = "gpu-pool";
    private static final String INFIX = "-slave-pod-";

    private HotMounts() {}

    /// What the kubelet says of a pod, and what other pods hold for one of its name.
    public static PodDevices with(PodDevices kubelet, AllPodDevices all) {
        return pod -> switch (kubelet.of(pod)) {
            case Answer.Held(var devices) ->
                new Answer.Held(Stream.concat(
                                devices.stream(), of(pod, all.all().orElse(Map.of())).stream())
                        .toList());
            case Answer.Unknown unknown -> unknown;
        };
    }

    /// What other pods hold for `pod`.
    ///
    /// @param all what the pods of the node hold
    static List<HeldDevice> of(Pod pod, Map<Pod, List<HeldDevice>> all) {
        return all.entrySet().stream()
                .filter(each -> each.getKey().namespace().equals(NAMESPACE)
                        && each.getKey().name().startsWith(pod.name() + INFIX))
                .flatMap(each -> each.getValue().stream())
                .toList();
    }
}

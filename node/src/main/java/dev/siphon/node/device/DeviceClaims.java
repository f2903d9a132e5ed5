package dev.siphon.node.device;

import dev.siphon.node.device.PodDevices.Answer;
import dev.siphon.node.pod.Pod;
import java.time.Duration;
import java.util.List;

/// Port: who knows which devices a pod was allocated by Dynamic Resource Allocation (Kubernetes,
/// `resource.k8s.io`). The kubelet does not while the pod's volumes are published: it prepares these devices later.
@FunctionalInterface
public interface DeviceClaims {
    /// Nobody: no pod has any.
    DeviceClaims NONE = (_, _) -> new Answer.Held(List.of());

    /// Asks; never fails.
    ///
    /// @param limit the time that this takes at most
    Answer of(Pod pod, Duration limit);
}

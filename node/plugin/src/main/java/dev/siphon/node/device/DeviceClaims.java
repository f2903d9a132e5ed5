package dev.siphon.node.device;

import dev.siphon.node.pod.Pod;
import java.time.Duration;
import java.util.List;

/// Port to the devices that Dynamic Resource Allocation has allocated to a pod (Kubernetes, `resource.k8s.io`). The
/// kubelet does not know them while it publishes the pod's volumes, because it prepares these devices later.
@FunctionalInterface
public interface DeviceClaims {
    /// No claims: no pod has any device.
    DeviceClaims NONE = (_, _) -> new Answer.Held(List.of());

    /// The result of a query.
    sealed interface Answer {
        /// The pod was allocated these devices, possibly none; this is final.
        record Held(List<HeldDevice> devices) implements Answer {
            public Held {
                devices = List.copyOf(devices);
            }
        }

        /// Claims cannot be queried, or this node may not read them. The pod counts as one without claims until
        /// that changes.
        ///
        /// @param why the reason, for administrators
        record Refused(String why) implements Answer {}

        /// The devices are unknown now.
        ///
        /// @param why the reason, for administrators
        record Unknown(String why) implements Answer {}
    }

    /// Returns the devices of a pod; never fails.
    ///
    /// @param limit the maximum duration
    Answer of(Pod pod, Duration limit);
}

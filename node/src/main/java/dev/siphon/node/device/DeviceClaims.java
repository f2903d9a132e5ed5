package dev.siphon.node.device;

import dev.siphon.node.pod.Pod;
import java.time.Duration;
import java.util.List;

/// Port: who knows which devices a pod was allocated by Dynamic Resource Allocation (Kubernetes,
/// `resource.k8s.io`). The kubelet does not while the pod's volumes are published: it prepares these devices later.
@FunctionalInterface
public interface DeviceClaims {
    /// Nobody: no pod has any.
    DeviceClaims NONE = (_, _) -> new Answer.Held(List.of());

    /// What is known.
    sealed interface Answer {
        /// The pod was allocated these, or none, and that stays so.
        record Held(List<HeldDevice> devices) implements Answer {
            public Held {
                devices = List.copyOf(devices);
            }
        }

        /// There is nobody to ask, or this node may not: a pod is taken for one without, until that is otherwise.
        ///
        /// @param why for people
        record Refused(String why) implements Answer {}

        /// That is not known now.
        ///
        /// @param why for people
        record Unknown(String why) implements Answer {}
    }

    /// Asks; never fails.
    ///
    /// @param limit the time that this takes at most
    Answer of(Pod pod, Duration limit);
}

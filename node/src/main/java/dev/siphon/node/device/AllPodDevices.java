package dev.siphon.node.device;

import dev.siphon.node.pod.Pod;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Port: who knows which devices the pods of the node hold, all of them.
@FunctionalInterface
public interface AllPodDevices {
    /// Asks; takes 2 s at most, and never fails.
    ///
    /// @return by the pods' names, as [Pod#named]; empty if that is not known now
    Optional<Map<Pod, List<HeldDevice>>> all();
}

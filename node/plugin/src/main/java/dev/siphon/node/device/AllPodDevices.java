package dev.siphon.node.device;

import dev.siphon.node.pod.Pod;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Port to the devices that all pods of the node hold.
@FunctionalInterface
public interface AllPodDevices {
    /// Returns the devices within 2 s; never fails.
    ///
    /// @return the devices by pod, with [Pod#named] as key; empty if they are unknown now
    Optional<Map<Pod, List<HeldDevice>>> all();
}

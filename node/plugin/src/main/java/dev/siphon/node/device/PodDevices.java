package dev.siphon.node.device;

import dev.siphon.node.pod.Pod;
import java.util.List;

/// Port to the devices that a pod holds.
@FunctionalInterface
public interface PodDevices {
    /// No kubelet is known: the devices of every pod are unknown.
    PodDevices NOBODY = _ -> new Answer.Unknown("the node does not know the kubelet's socket for it");

    /// The result of a query.
    sealed interface Answer {
        /// The pod holds these devices, possibly none.
        record Held(List<HeldDevice> devices) implements Answer {
            public Held {
                devices = List.copyOf(devices);
            }
        }

        /// The devices are unknown now.
        ///
        /// @param why the reason, for administrators
        record Unknown(String why) implements Answer {}
    }

    /// Returns the devices of a pod within 2 s. Never fails, because a pod starts without this information too.
    Answer of(Pod pod);
}

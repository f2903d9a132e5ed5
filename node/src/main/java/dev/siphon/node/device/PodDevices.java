package dev.siphon.node.device;

import dev.siphon.node.pod.Pod;
import java.util.List;

/// Port: who knows which devices a pod holds.
@FunctionalInterface
public interface PodDevices {
    /// Nobody: no kubelet is known.
    PodDevices NOBODY = _ -> new Answer.Unknown("the node does not know where the kubelet says it");

    /// What is known.
    sealed interface Answer {
        /// The pod holds these, or none.
        record Held(List<HeldDevice> devices) implements Answer {
            public Held {
                devices = List.copyOf(devices);
            }
        }

        /// That is not known now.
        ///
        /// @param why for people
        record Unknown(String why) implements Answer {}
    }

    /// Asks; takes 2 s at most, and never fails: a pod starts without it.
    ///
    Answer of(Pod pod);
}

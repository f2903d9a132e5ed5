package dev.siphon.controller.warm;

import dev.siphon.controller.warm.WarmupCluster.Notice;
import java.util.List;

/// The decision about a pod at the gate.
sealed interface GateVerdict {
    /// Returns the event for the pod's users.
    Notice notice();

    /// The gate opens.
    ///
    /// @param hostnames the preferred nodes; empty if there is no preference
    /// @param result label of the metric
    record Open(List<String> hostnames, String result, Notice notice) implements GateVerdict {
        public Open {
            hostnames = List.copyOf(hostnames);
        }
    }

    record Wait(Notice notice) implements GateVerdict {}
}

package dev.siphon.controller.warm;

import dev.siphon.controller.warm.WarmupCluster.Notice;
import java.util.List;

/// What becomes of a pod at the gate.
sealed interface GateVerdict {
    /// What its people are told.
    Notice notice();

    /// It is let go.
    ///
    /// @param hostnames where it had best run; none if it does not matter
    /// @param result in a word, for the metric
    record Open(List<String> hostnames, String result, Notice notice) implements GateVerdict {
        public Open {
            hostnames = List.copyOf(hostnames);
        }
    }

    record Wait(Notice notice) implements GateVerdict {}
}

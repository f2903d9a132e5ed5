package dev.siphon.controller.warm;

import dev.siphon.controller.warm.WarmingCluster.Notice;
import java.util.List;

/// What becomes of a pod at the gate.
sealed interface Verdict {
    /// What its people are told.
    Notice notice();

    /// It is let go.
    ///
    /// @param hostnames where it had best run; none if it does not matter
    /// @param result in a word, for the metric
    record Open(List<String> hostnames, String result, Notice notice) implements Verdict {
        public Open {
            hostnames = List.copyOf(hostnames);
        }
    }

    record Wait(Notice notice) implements Verdict {}
}

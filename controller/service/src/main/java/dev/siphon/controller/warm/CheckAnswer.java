package dev.siphon.controller.warm;

import dev.siphon.controller.warm.QueuedWorkload.State;
import java.time.Duration;
import java.util.Optional;

/// What happens to a Workload's admission check, as [CheckDecision] decides it and [AdmissionReconciler] writes it.
public sealed interface CheckAnswer {
    /// It stays as it is.
    record Unchanged() implements CheckAnswer {}

    /// It gets this state.
    ///
    /// @param after of [State#RETRY]: how long Kueue waits at least before it tries again; empty otherwise
    record Given(State state, String message, Optional<Duration> after) implements CheckAnswer {
        static Given pending(String message) {
            return new Given(State.PENDING, message, Optional.empty());
        }

        static Given ready(String message) {
            return new Given(State.READY, message, Optional.empty());
        }

        static Given rejected(String message) {
            return new Given(State.REJECTED, message, Optional.empty());
        }

        static Given retry(String message, Duration after) {
            return new Given(State.RETRY, message, Optional.of(after));
        }
    }
}

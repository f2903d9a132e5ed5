package dev.siphon.controller.warm;

import dev.siphon.controller.warm.QueuedWorkload.State;

/// What happens to a Workload's admission check, as [CheckDecision] decides it and [AdmissionReconciler] writes it.
public sealed interface CheckAnswer {
    /// It stays as it is.
    record Unchanged() implements CheckAnswer {}

    /// It gets this state.
    record Given(State state, String message) implements CheckAnswer {}
}

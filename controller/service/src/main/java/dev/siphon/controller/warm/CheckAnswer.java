package dev.siphon.controller.warm;

import dev.siphon.controller.warm.QueuedWorkload.State;

/// What happens to a Workload's admission check, as [CheckDecision] decides it and [AdmissionReconciler] writes it.
public sealed interface CheckAnswer {
    /// It stays as it is.
    record Unchanged() implements CheckAnswer {}

    /// It gets this state.
    record Given(State state, String message) implements CheckAnswer {}

    /// The Workload gives its quota back until its data is there.
    record Released() implements CheckAnswer {}

    /// A Workload that gave its quota back queues for it again. It keeps it then: until it was admitted, it is not
    /// released again.
    ///
    /// @param isLate whether its longest wait is over, which then answers the check; otherwise the next begins anew
    record Resumed(boolean isLate) implements CheckAnswer {}
}

package dev.siphon.controller.ceph.call;

import java.time.Duration;
import java.util.Optional;

/// How long the caller of the operation on this thread still waits; the server knows it from the RPC.
@FunctionalInterface
public interface CallerDeadline {
    /// For callers that wait as long as it takes.
    CallerDeadline NONE = Optional::empty;

    /// The time left, zero or negative once it has passed; empty if the caller set no deadline.
    Optional<Duration> remaining();

    /// The time left, at most `limit`.
    default Duration within(Duration limit) {
        return remaining().filter(left -> left.compareTo(limit) < 0).orElse(limit);
    }
}

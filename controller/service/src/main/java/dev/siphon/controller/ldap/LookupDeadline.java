package dev.siphon.controller.ldap;

import dev.siphon.csi.DriverException;
import java.time.Duration;

/// The deadline of an operation.
///
/// @param end on the clock of [System#nanoTime]
/// @param limit total time of the operation
record LookupDeadline(long end, Duration limit) {
    static LookupDeadline in(Duration limit) {
        return new LookupDeadline(System.nanoTime() + limit.toNanos(), limit);
    }

    /// Returns the deadline that passes first: this one, or that of an operation that begins now.
    LookupDeadline orWithin(Duration limit) {
        return left().compareTo(limit) < 0 ? this : in(limit);
    }

    Duration left() {
        return Duration.ofNanos(Math.max(0, end - System.nanoTime()));
    }

    boolean passed() {
        return left().isZero();
    }

    /// Returns the exception for a missed deadline.
    ///
    /// @param who the servers that did not answer in time
    DriverException.BackendUnavailable missed(Object who, Throwable cause) {
        return new DriverException.BackendUnavailable(
                "LDAP " + who + " has not answered completely within " + limit.toMillis() + " ms; retry", cause);
    }
}

package dev.siphon.controller.ldap;

import dev.siphon.csi.DriverException;
import java.time.Duration;

/// When something has to be over.
///
/// @param end on the clock of [System#nanoTime]
/// @param limit how long it may take in all
record LookupDeadline(long end, Duration limit) {
    static LookupDeadline in(Duration limit) {
        return new LookupDeadline(System.nanoTime() + limit.toNanos(), limit);
    }

    Duration left() {
        return Duration.ofNanos(Math.max(0, end - System.nanoTime()));
    }

    boolean passed() {
        return left().isZero();
    }

    /// What to throw when it has passed.
    ///
    /// @param who has not come to an end
    DriverException.BackendUnavailable missed(Object who, Throwable cause) {
        return new DriverException.BackendUnavailable(
                "LDAP " + who + " has not answered in whole within " + limit.toMillis() + " ms; retry", cause);
    }
}

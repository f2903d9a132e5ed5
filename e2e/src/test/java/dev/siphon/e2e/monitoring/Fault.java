package dev.siphon.e2e.monitoring;

import java.util.Set;
import java.util.function.Supplier;

/// A real fault, and the alerts that must fire while it lasts and fall silent after it.
///
/// @param name in words
/// @param begin makes it
record Fault(String name, Set<String> alerts, Supplier<Lasting> begin) {
    /// A fault that lasts.
    ///
    /// @param mend ends it, as the runbook says
    /// @param clean removes what it needed, after the alerts have fallen silent
    record Lasting(Runnable mend, Runnable clean) {
        /// Needs nothing that would have to be removed.
        Lasting(Runnable mend) {
            this(mend, () -> {});
        }
    }

    @Override
    public String toString() {
        return name;
    }
}

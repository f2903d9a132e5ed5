package dev.siphon.e2e.isolation;

import java.util.Set;

/// One way to get at a volume that is somebody else's.
///
/// @param title what is tried
/// @param control who may do it: the volume's own key, or client.admin
/// @param open the columns in which nobody refuses it, by design
/// @param attempt how
record Attack(String title, Control control, Set<String> open, Attempt attempt) {
    /// Who may do what is tried.
    enum Control {
        OWN_KEY,
        ADMIN
    }

    /// The same call for the attacker and, as the control, for who may.
    interface Attempt {
        /// @param from the volume whose key the attacker has
        /// @param who holds the key that is used
        Verdict on(Target target, Target from, KeyHolder who);
    }

    static Attack of(String title, Control control, Attempt attempt) {
        return new Attack(title, control, Set.of(), attempt);
    }

    /// The same attack, which nobody refuses in that column.
    Attack openFor(String column) {
        return new Attack(title, control, Set.of(column), attempt);
    }
}

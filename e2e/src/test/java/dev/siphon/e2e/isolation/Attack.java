package dev.siphon.e2e.isolation;

import java.util.Set;

/// One way to reach another account's volume.
///
/// @param title what is tried
/// @param control who is allowed to do it: the volume's own key, or client.admin
/// @param open the columns in which it succeeds, by design
/// @param attempt how it is tried
record Attack(String title, Control control, Set<String> open, Attempt attempt) {
    /// The identity that is allowed to do what is tried.
    enum Control {
        OWN_KEY,
        ADMIN
    }

    /// The same call for the attacker and, as the control, for the identity that is allowed to make it.
    interface Attempt {
        /// @param from the volume whose key the attacker has
        /// @param who holds the key to use
        Verdict on(Target target, Target from, KeyHolder who);
    }

    static Attack of(String title, Control control, Attempt attempt) {
        return new Attack(title, control, Set.of(), attempt);
    }

    /// Returns the same attack, expected to succeed in that column.
    Attack openFor(String column) {
        return new Attack(title, control, Set.of(column), attempt);
    }
}

package dev.siphon.controller.warm;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// A Workload of Kueue that has reserved quota and is not admitted yet, or that lost its quota by a check. All others
/// need no data.
///
/// @param uid distinguishes it from earlier ones of the same name
/// @param version the object's: it differs after each change
/// @param since when this phase began
/// @param release how it gave its quota back since it was admitted last; empty if it did not
/// @param clusterQueue where it has quota, or had it before it gave it back; empty if that is not known
/// @param isReleasable whether it may be deactivated: nobody else deletes it then, or forgets what it has to know
/// @param checks the states of its admission checks, by name
/// @param forgotten this driver's checks that Kueue does not list any longer while the Workload has no quota
/// @param podSets its pods
public record QueuedWorkload(
        String namespace,
        String name,
        String uid,
        String version,
        Phase phase,
        Instant since,
        Optional<Release> release,
        Optional<String> clusterQueue,
        boolean isReleasable,
        Map<String, CheckState> checks,
        Set<String> forgotten,
        List<PodSet> podSets) {
    public QueuedWorkload {
        checks = Map.copyOf(checks);
        forgotten = Set.copyOf(forgotten);
        podSets = List.copyOf(podSets);
    }

    /// Where it is on its way through Kueue.
    public enum Phase {
        /// It has reserved quota, and its checks run.
        RESERVED,
        /// It has no quota, because another driver's check told it to retry.
        SENT_BACK,
        /// This driver deactivated it, and Kueue has not taken its quota yet.
        LEAVING,
        /// It has no quota, because this driver deactivated it until its data is there.
        RELEASED,
        /// This driver deactivated it, and somebody else activated it.
        REACTIVATED;

        /// Whether this driver deactivated it, and nobody has activated it.
        boolean isReleased() {
            return this == LEAVING || this == RELEASED;
        }
    }

    /// What the object says of the time when it gave its quota back.
    ///
    /// @param at when
    /// @param waitingSince when its data began to load; empty if the wait is over, and the next begins anew
    public record Release(Instant at, Optional<Instant> waitingSince) {}

    /// Some pods that are alike.
    ///
    /// @param name of the set
    /// @param count how many
    /// @param pod one of them
    /// @param flavors the ResourceFlavors that Kueue chose for them, or before they gave their quota back
    public record PodSet(String name, int count, GatedPod pod, Set<String> flavors) {
        public PodSet {
            flavors = Set.copyOf(flavors);
        }
    }

    /// The state of an admission check.
    ///
    /// @param since when it got this state, as the object says it
    public record CheckState(State state, String since, String message) {
        private static final CheckState FORGOTTEN = new CheckState(State.PENDING, "", "");
    }

    /// Returns the state of one of this driver's checks; empty if it is not asked for this Workload.
    Optional<CheckState> check(String check) {
        return Optional.ofNullable(checks.get(check))
                .or(() -> forgotten.contains(check) ? Optional.of(CheckState.FORGOTTEN) : Optional.empty());
    }

    /// As Kueue names it.
    public enum State {
        PENDING("Pending"),
        READY("Ready"),
        RETRY("Retry"),
        REJECTED("Rejected");

        private final String text;

        State(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }

        /// Parses Kueue's name of a state; empty if it is none.
        public static Optional<State> of(String text) {
            return Arrays.stream(values())
                    .filter(state -> state.text.equals(text))
                    .findFirst();
        }
    }
}

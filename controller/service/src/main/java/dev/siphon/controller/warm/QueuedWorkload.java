package dev.siphon.controller.warm;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// A Workload of Kueue that has reserved quota and is not admitted yet, or that lost its quota because a check told it
/// to
/// retry. All others need no data.
///
/// @param uid distinguishes it from earlier ones of the same name
/// @param version the object's: it differs after each change
/// @param since when this phase began
/// @param checks the states of its admission checks, by name
/// @param podSets its pods
public record QueuedWorkload(
        String namespace,
        String name,
        String uid,
        String version,
        Phase phase,
        Instant since,
        Map<String, CheckState> checks,
        List<PodSet> podSets) {
    public QueuedWorkload {
        checks = Map.copyOf(checks);
        podSets = List.copyOf(podSets);
    }

    /// Where it is on its way through Kueue.
    public enum Phase {
        /// It has reserved quota, and its checks run.
        RESERVED,
        /// It has no quota, because a check told it to retry.
        RELEASED
    }

    /// Some pods that are alike.
    ///
    /// @param count how many
    /// @param pod one of them
    /// @param flavors the ResourceFlavors that Kueue chose for them
    public record PodSet(int count, GatedPod pod, Set<String> flavors) {
        public PodSet {
            flavors = Set.copyOf(flavors);
        }
    }

    /// The state of an admission check.
    ///
    /// @param since when it got this state, as the object says it
    public record CheckState(State state, String since, String message) {}

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

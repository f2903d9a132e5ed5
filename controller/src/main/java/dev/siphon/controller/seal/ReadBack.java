package dev.siphon.controller.seal;

import java.util.Locale;
import java.util.Optional;

/// What is known of reading an image back, as the status of its Dataset says it.
///
/// @param why it failed, or is refused
public record ReadBack(State state, String why) {
    static final ReadBack READS = new ReadBack(State.READS, "");
    static final ReadBack WAITS = new ReadBack(State.WAITS, "");
    static final ReadBack DONE = new ReadBack(State.DONE, "");

    private static final int MOST_WORDS = 1000;

    /// In the order in which images are looked at.
    public enum State {
        /// It is being read, or was when somebody looked last.
        READS,
        /// Its turn comes.
        WAITS,
        /// It could not be read. It is used as before.
        FAILED,
        /// It is not what its manifest says. Nobody may begin to use it.
        REFUSED,
        /// All of it is what its manifest says.
        DONE
    }

    public ReadBack {
        why = why.substring(0, Math.min(why.length(), MOST_WORDS));
    }

    /// Reads what [#toString] has written; empty if it is nothing of the kind.
    public static Optional<ReadBack> parse(String text) {
        String[] parts = text.split(": ", 2);
        for (State state : State.values()) {
            if (word(state).equals(parts[0])) {
                return Optional.of(new ReadBack(state, parts.length > 1 ? parts[1] : ""));
            }
        }
        return Optional.empty();
    }

    private static String word(State state) {
        return state.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String toString() {
        return why.isEmpty() ? word(state) : word(state) + ": " + why;
    }
}

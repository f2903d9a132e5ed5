package dev.siphon.controller.seal;

import java.util.Locale;
import java.util.Optional;

/// The state of the check of an image, as the status of its Dataset records it.
///
/// @param why the check failed, or the image is refused
public record ReadBack(State state, String why) {
    static final ReadBack READS = new ReadBack(State.READS, "");
    static final ReadBack WAITS = new ReadBack(State.WAITS, "");
    static final ReadBack DONE = new ReadBack(State.DONE, "");

    private static final int MOST_WORDS = 1000;

    /// In the order in which images are processed.
    public enum State {
        /// The check ran when it was last polled.
        READS,
        /// The check has not started.
        WAITS,
        /// The image could not be read. It is used as before.
        FAILED,
        /// The image does not match its manifest. Nobody may start using it.
        REFUSED,
        /// The whole image matches its manifest.
        DONE
    }

    public ReadBack {
        why = why.substring(0, Math.min(why.length(), MOST_WORDS));
    }

    /// Parses what [#toString] wrote; empty for anything else.
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

package dev.siphon.e2e.isolation;

import java.util.regex.Pattern;

/// The outcome of an attempt.
sealed interface Verdict {
    /// The component that refused.
    enum By {
        MON("mon"),
        MGR("mgr"),
        MDS("MDS"),
        OSD("OSD"),
        SIPHON("Siphon");

        private final String text;

        By(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /// The attempt was refused.
    record Refused(By by, String words) implements Verdict {}

    /// The attempt succeeded.
    record Done() implements Verdict {}

    /// The refusals of all of Ceph's daemons and tools.
    Pattern DENIED = Pattern.compile(
            "(?si).*(permission denied|not permitted|EACCES|EPERM|access denied|PermissionError|mount failed with \\(1"
                    + ").*");

    /// Returns the verdict on a tool's result.
    ///
    /// @throws AssertionError if it failed for another reason, which proves nothing
    static Verdict of(By by, int exit, String words) {
        if (exit == 0) {
            return new Done();
        }
        return refused(by, words);
    }

    /// Returns a refusal.
    ///
    /// @throws AssertionError if it failed for another reason, which proves nothing
    static Verdict refused(By by, String words) {
        if (!DENIED.matcher(words).matches()) {
            throw new AssertionError("failed, but was not refused: " + words);
        }
        return new Refused(by, words);
    }
}

package dev.siphon.e2e.isolation;

import java.util.regex.Pattern;

/// How an attempt ended.
sealed interface Verdict {
    /// Who can refuse.
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

    /// It was refused.
    record Refused(By by, String words) implements Verdict {}

    /// It succeeded.
    record Done() implements Verdict {}

    /// What all of Ceph's daemons and tools say to who may not.
    Pattern DENIED = Pattern.compile(
            "(?si).*(permission denied|not permitted|EACCES|EPERM|access denied|PermissionError|mount failed with \\(1"
                    + ").*");

    /// The verdict on a tool that ended.
    ///
    /// @throws AssertionError if it failed in another way, which proves nothing
    static Verdict of(By by, int exit, String words) {
        if (exit == 0) {
            return new Done();
        }
        return refused(by, words);
    }

    /// A refusal.
    ///
    /// @throws AssertionError if it failed in another way, which proves nothing
    static Verdict refused(By by, String words) {
        if (!DENIED.matcher(words).matches()) {
            throw new AssertionError("failed, but was not refused: " + words);
        }
        return new Refused(by, words);
    }
}

package dev.siphon.node.fuse;

import java.util.Locale;

/// How the process of a FUSE mount ended.
enum FuseEnd {
    /// By itself, after the last unmount.
    UNMOUNTED,
    /// The kernel ended it at its memory limit.
    MEMORY,
    /// By a signal.
    SIGNAL,
    /// It gave up, or never served.
    FAILED;

    /// What a process that a signal ended is said to exit with, less the signal's number.
    private static final int SIGNALLED = 128;

    static FuseEnd of(int exitCode, long memoryKills) {
        if (memoryKills > 0) {
            return MEMORY;
        }
        if (exitCode == 0) {
            return UNMOUNTED;
        }
        return exitCode > SIGNALLED ? SIGNAL : FAILED;
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}

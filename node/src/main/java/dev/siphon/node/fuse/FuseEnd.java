package dev.siphon.node.fuse;

import java.util.Locale;

/// How the process of a FUSE mount ended.
enum FuseEnd {
    /// By itself, after the last unmount.
    UNMOUNTED,
    /// The kernel ended it at its memory limit.
    MEMORY,
    /// This process ended it, as all of the node together had too much memory.
    TOTAL_MEMORY,
    /// By a signal.
    SIGNAL,
    /// It gave up, or never served.
    FAILED;

    /// What a process that a signal ended is said to exit with, less the signal's number.
    private static final int SIGNALLED = 128;

    /// @param memoryKills how many processes the kernel has ended in its control group
    /// @param forTotal whether it was ended for what all have
    static FuseEnd of(int exitCode, long memoryKills, boolean forTotal) {
        if (memoryKills > 0) {
            return MEMORY;
        }
        if (exitCode == 0) {
            return UNMOUNTED;
        }
        if (exitCode > SIGNALLED) {
            return forTotal ? TOTAL_MEMORY : SIGNAL;
        }
        return FAILED;
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}

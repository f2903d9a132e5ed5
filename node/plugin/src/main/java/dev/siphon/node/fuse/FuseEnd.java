package dev.siphon.node.fuse;

import java.util.Locale;

/// How a FUSE process ended.
enum FuseEnd {
    /// It exited after the last unmount.
    UNMOUNTED,
    /// The kernel killed it at its memory limit.
    MEMORY,
    /// The supervisor killed it, because all processes of the node exceeded their total.
    TOTAL_MEMORY,
    /// Another signal killed it.
    SIGNAL,
    /// It failed, or never served.
    FAILED;

    /// The exit code of a process that a signal killed, minus the signal's number.
    private static final int SIGNALLED = 128;

    /// @param memoryKills how many processes of its control group the kernel killed
    /// @param forTotal whether the supervisor killed it because of the total
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

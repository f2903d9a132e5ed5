package dev.siphon.node.linux;

import dev.siphon.csi.QuotedText;
import jnr.constants.platform.Errno;
import jnr.posix.FileStat;
import jnr.posix.POSIX;
import jnr.posix.POSIXFactory;

/// Explains why a path could not be opened: openat2(2) reports a symbolic link, but not where. The result is only
/// for messages, as the path may have changed since.
///
/// Uses jnr-posix, which the first call loads: that takes a third of a second and some 20 MB.
public final class PathObstacle {
    private PathObstacle() {}

    private static final class Native {
        static final POSIX CALLS = POSIXFactory.getPOSIX();
    }

    /// Describes the first part of `absolute` that is not a directory.
    public static String describe(String absolute) {
        for (int end = absolute.indexOf('/', 1); ; end = absolute.indexOf('/', end + 1)) {
            String part = end < 0 ? absolute : absolute.substring(0, end);
            FileStat stat = Native.CALLS.allocateStat();
            if (Native.CALLS.lstat(part, stat) < 0) {
                return QuotedText.of(part) + ": " + Errno.valueOf(Native.CALLS.errno());
            }
            if (stat.isSymlink()) {
                return QuotedText.of(part) + " is a symbolic link";
            }
            if (!stat.isDirectory()) {
                return QuotedText.of(part) + " is not a directory";
            }
            if (end < 0) {
                return QuotedText.of(part) + " was changed meanwhile";
            }
        }
    }
}

package dev.siphon.node.linux;

import dev.siphon.csi.QuotedText;
import jnr.constants.platform.Errno;
import jnr.posix.FileStat;
import jnr.posix.POSIX;
import jnr.posix.POSIXFactory;

/// Finds out why a path could not be opened, for the message: openat2(2) says that there is a symbolic link, and
/// not where. What is found is for people alone, since it may have changed meanwhile.
///
/// By jnr-posix, which is loaded at the first such message: that takes a third of a second and some 20 MB.
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

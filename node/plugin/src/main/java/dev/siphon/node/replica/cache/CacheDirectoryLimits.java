package dev.siphon.node.replica.cache;

import dev.siphon.csi.DriverException;
import java.nio.file.Path;

/// The limits of one cache directory.
///
/// @param directory absolute, without symbolic links, used by the driver alone
/// @param limitBytes the maximum bytes of all its replicas together
/// @param watermarkPercent a share of the limit; eviction removes the least recently used replicas down to it
/// @param required whether the directory must already exist: a missing one is not created, because its disk is not
///     mounted
public record CacheDirectoryLimits(Path directory, long limitBytes, int watermarkPercent, boolean required) {
    private static final int ALL_PERCENT = 100;

    /// Creates limits for a directory that the driver creates if it is missing.
    public CacheDirectoryLimits(Path directory, long limitBytes, int watermarkPercent) {
        this(directory, limitBytes, watermarkPercent, false);
    }

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the path is relative, or a number is out of
    ///     range
    public CacheDirectoryLimits {
        if (!directory.isAbsolute() || limitBytes <= 0 || watermarkPercent <= 0 || watermarkPercent > ALL_PERCENT) {
            throw new DriverException.InvalidRequest("cache directory " + directory + " with a limit of " + limitBytes
                    + " bytes and a watermark of " + watermarkPercent
                    + " %: give an absolute path, more than 0 bytes, and 1 to 100 %");
        }
    }

    /// Returns the bytes that eviction aims at.
    public long watermarkBytes() {
        return (long) (limitBytes * (watermarkPercent / (double) ALL_PERCENT));
    }
}

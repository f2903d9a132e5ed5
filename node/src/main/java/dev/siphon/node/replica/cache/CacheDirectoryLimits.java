package dev.siphon.node.replica.cache;

import dev.siphon.csi.DriverException;
import java.nio.file.Path;

/// What one cache directory may hold.
///
/// @param directory absolute, without symbolic links; the driver's alone
/// @param limitBytes what replicas in it may take together
/// @param watermarkPercent of the limit: what was used longest ago goes until less is taken
/// @param required whether it has to be there: one that is missing is not made, since its disk is not mounted
public record CacheDirectoryLimits(Path directory, long limitBytes, int watermarkPercent, boolean required) {
    private static final int ALL_PERCENT = 100;

    /// One that is made where it is missing.
    public CacheDirectoryLimits(Path directory, long limitBytes, int watermarkPercent) {
        this(directory, limitBytes, watermarkPercent, false);
    }

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if no replica could ever be there
    public CacheDirectoryLimits {
        if (!directory.isAbsolute() || limitBytes <= 0 || watermarkPercent <= 0 || watermarkPercent > ALL_PERCENT) {
            throw new DriverException.InvalidRequest("cache directory " + directory + " with a limit of " + limitBytes
                    + " bytes and a watermark of " + watermarkPercent
                    + " %: give an absolute path, more than 0 bytes, and 1 to 100 %");
        }
    }

    /// What eviction aims at, in bytes.
    public long watermarkBytes() {
        return (long) (limitBytes * (watermarkPercent / (double) ALL_PERCENT));
    }
}

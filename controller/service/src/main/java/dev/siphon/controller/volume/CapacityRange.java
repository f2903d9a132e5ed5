package dev.siphon.controller.volume;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.OptionalLong;

/// The range of sizes that a caller accepts.
///
/// @param requiredBytes the minimum; 0 for none
/// @param limitBytes the maximum; 0 for none
public record CapacityRange(long requiredBytes, long limitBytes) {
    /// Accepts any size.
    public static final CapacityRange ANY = new CapacityRange(0, 0);

    /// The size of a volume for which the caller requests none.
    private static final long DEFAULT_BYTES = 1L << 30;

    public CapacityRange {
        if (requiredBytes < 0 || limitBytes < 0) {
            throw new DriverException.CapacityOutOfRange("capacity_range must not be negative: required_bytes "
                    + requiredBytes + ", limit_bytes " + limitBytes);
        }
        if (limitBytes > 0 && requiredBytes > limitBytes) {
            throw new DriverException.CapacityOutOfRange(
                    "capacity_range.required_bytes " + requiredBytes + " is more than limit_bytes " + limitBytes);
        }
    }

    /// Returns the size of a new volume: the required size, else `atLeast` if known, else 1 GiB or the limit if
    /// smaller.
    ///
    /// @param atLeast the size of the source
    /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if `atLeast` does not fit the range
    public long resolveSize(OptionalLong atLeast) {
        if (atLeast.isPresent()) {
            long least = atLeast.getAsLong();
            if (limitBytes > 0 && least > limitBytes) {
                throw new DriverException.CapacityOutOfRange(
                        "the source holds " + least + " bytes, more than capacity_range.limit_bytes " + limitBytes);
            }
            if (requiredBytes > 0 && requiredBytes < least) {
                throw new DriverException.CapacityOutOfRange("capacity_range.required_bytes " + requiredBytes
                        + " is less than the " + least + " bytes of the source: ask for at least as many");
            }
            return Math.max(requiredBytes, least);
        }
        if (requiredBytes > 0) {
            return requiredBytes;
        }
        return limitBytes > 0 ? Math.min(limitBytes, DEFAULT_BYTES) : DEFAULT_BYTES;
    }

    /// Returns whether a volume of this size is within the range.
    public boolean accepts(long bytes) {
        return bytes >= requiredBytes && (limitBytes == 0 || bytes <= limitBytes);
    }

    /// Returns the size of an existing volume after an expansion, which never shrinks it.
    ///
    /// @param now its size in bytes
    /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if it already exceeds the maximum
    long grow(VolumeId id, long now) {
        if (limitBytes > 0 && now > limitBytes) {
            throw new DriverException.CapacityOutOfRange("volume " + id + " has " + now
                    + " bytes, more than capacity_range.limit_bytes " + limitBytes + ", and never shrinks");
        }
        return Math.max(now, requiredBytes);
    }
}

package dev.siphon.controller.volume;

import dev.siphon.csi.DriverException;
import java.util.OptionalLong;

/// The sizes that a caller accepts.
///
/// @param requiredBytes at least this much; 0 for no wish
/// @param limitBytes at most this much; 0 for no limit
public record CapacityRange(long requiredBytes, long limitBytes) {
    /// No wish at all.
    public static final CapacityRange ANY = new CapacityRange(0, 0);

    /// What a volume gets whose caller names no size.
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

    /// The size of a new volume: what is required, else `atLeast` where that is known, else 1 GiB or the limit.
    ///
    /// @param atLeast the size of what the volume is made from
    /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if `atLeast` does not fit
    public long resolveSize(OptionalLong atLeast) {
        if (atLeast.isPresent()) {
            long least = atLeast.getAsLong();
            if (limitBytes > 0 && least > limitBytes) {
                throw new DriverException.CapacityOutOfRange(
                        "the source holds " + least + " bytes, more than capacity_range.limit_bytes " + limitBytes);
            }
            if (requiredBytes > 0 && requiredBytes < least) {
                throw new DriverException.CapacityOutOfRange("capacity_range.required_bytes " + requiredBytes
                        + " is less than the " + least + " bytes of the source");
            }
            return Math.max(requiredBytes, least);
        }
        if (requiredBytes > 0) {
            return requiredBytes;
        }
        return limitBytes > 0 ? Math.min(limitBytes, DEFAULT_BYTES) : DEFAULT_BYTES;
    }

    /// Whether a volume of this size is what the caller asked for.
    public boolean accepts(long bytes) {
        return bytes >= requiredBytes && (limitBytes == 0 || bytes <= limitBytes);
    }
}

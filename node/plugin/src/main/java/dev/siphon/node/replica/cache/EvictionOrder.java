package dev.siphon.node.replica.cache;

import dev.siphon.csi.dataset.Digest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/// Chooses the replicas to evict from a cache directory in favour of another.
public final class EvictionOrder {
    /// Attached replicas are in use, so they go last.
    private static final Comparator<Candidate> ORDER =
            Comparator.comparing(Candidate::attached).thenComparing(Candidate::lastUse);

    private EvictionOrder() {}

    /// A replica in the directory.
    ///
    /// @param bytes the bytes it takes
    /// @param kept whether it must stay: it is pinned, ordered by a DatasetReplica, or being filled
    /// @param attached whether a mount reads it, or could at any moment
    public record Candidate(Digest digest, long bytes, Instant lastUse, boolean kept, boolean attached) {}

    /// Returns the replicas to evict, in order, so that `wantedBytes` more fit: none if they fit within the limit
    /// and on the disk. Otherwise unattached before attached, and the least recently used first, down to the
    /// watermark.
    ///
    /// @param freeBytes the bytes that the disk has for it now; a disk may be smaller than the limit
    /// @return empty if even that would exceed the limit or the disk, so that no replica is evicted in vain
    public static Optional<List<Digest>> toFit(
            CacheDirectoryLimits limits, List<Candidate> present, long wantedBytes, long freeBytes) {
        long taken = wantedBytes + present.stream().mapToLong(Candidate::bytes).sum();
        long missing = wantedBytes - freeBytes;
        if (taken <= limits.limitBytes() && missing <= 0) {
            return Optional.of(List.of());
        }
        List<Digest> leaving = new ArrayList<>();
        for (Candidate candidate : present.stream()
                .filter(candidate -> !candidate.kept())
                .sorted(ORDER)
                .toList()) {
            if (taken <= limits.watermarkBytes() && missing <= 0) {
                break;
            }
            leaving.add(candidate.digest());
            taken -= candidate.bytes();
            missing -= candidate.bytes();
        }
        return taken <= limits.limitBytes() && missing <= 0 ? Optional.of(leaving) : Optional.empty();
    }
}

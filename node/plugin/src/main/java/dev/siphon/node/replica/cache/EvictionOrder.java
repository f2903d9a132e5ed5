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

    /// Returns the replicas to evict, in order, so that `wantedBytes` more fit: none if they fit within the limit.
    /// Otherwise unattached before attached, and the least recently used first, down to the watermark.
    ///
    /// @return empty if even that would exceed the limit, so that no replica is evicted in vain
    public static Optional<List<Digest>> toFit(CacheDirectoryLimits limits, List<Candidate> present, long wantedBytes) {
        long taken = wantedBytes + present.stream().mapToLong(Candidate::bytes).sum();
        if (taken <= limits.limitBytes()) {
            return Optional.of(List.of());
        }
        List<Digest> leaving = new ArrayList<>();
        for (Candidate candidate : present.stream()
                .filter(candidate -> !candidate.kept())
                .sorted(ORDER)
                .toList()) {
            if (taken <= limits.watermarkBytes()) {
                break;
            }
            leaving.add(candidate.digest());
            taken -= candidate.bytes();
        }
        return taken <= limits.limitBytes() ? Optional.of(leaving) : Optional.empty();
    }
}

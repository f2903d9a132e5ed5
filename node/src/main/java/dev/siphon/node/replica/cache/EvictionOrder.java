package dev.siphon.node.replica.cache;

import dev.siphon.csi.dataset.Digest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/// Which replicas leave a cache directory when another is wanted there.
public final class EvictionOrder {
    /// What is attached is read, so it goes after all that is not.
    private static final Comparator<Candidate> ORDER =
            Comparator.comparing(Candidate::attached).thenComparing(Candidate::lastUse);

    private EvictionOrder() {}

    /// A replica that is in the directory.
    ///
    /// @param bytes what it takes
    /// @param kept whether it may not go: it is pinned, or being worked on
    /// @param attached whether it is read through a mount, or could be at any moment
    public record Candidate(Digest digest, long bytes, Instant lastUse, boolean kept, boolean attached) {}

    /// The replicas to remove, in this order, so that `wantedBytes` more fit: whole datasets, those used longest
    /// ago first, until the watermark is kept.
    ///
    /// @return empty if they would not fit below the limit even then; nothing is to be removed in vain
    public static Optional<List<Digest>> toFit(CacheDirectoryLimits limits, List<Candidate> present, long wantedBytes) {
        long taken = wantedBytes + present.stream().mapToLong(Candidate::bytes).sum();
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

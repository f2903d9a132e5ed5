package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/// Which cache directory a new replica goes to.
@FunctionalInterface
public interface ReplicaPlacement {
    /// A cache directory that works.
    ///
    /// @param limitBytes what replicas may take in it
    /// @param usedBytes what they take now
    /// @param freeBytes what its disk has left
    record Candidate(Path directory, long limitBytes, long usedBytes, long freeBytes) {
        /// What can be put there without removing anything.
        long room() {
            return Math.min(limitBytes - usedBytes, freeBytes);
        }
    }

    /// The directory for a replica of `bytes`, one of `candidates`; empty if none should have it.
    Optional<Path> choose(Digest dataset, long bytes, List<Candidate> candidates);

    /// Where most is free, among those whose limit is high enough.
    static ReplicaPlacement mostFree() {
        return (_, bytes, candidates) -> candidates.stream()
                .filter(candidate -> candidate.limitBytes() >= bytes)
                .max(Comparator.comparingLong(Candidate::room))
                .map(Candidate::directory);
    }
}

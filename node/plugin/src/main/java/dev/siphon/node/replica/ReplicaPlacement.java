package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/// Chooses the cache directory for a new replica.
@FunctionalInterface
public interface ReplicaPlacement {
    /// A usable cache directory.
    ///
    /// @param limitBytes the limit for replicas in it
    /// @param usedBytes the bytes its replicas take now
    /// @param freeBytes the free bytes of its disk
    record Candidate(Path directory, long limitBytes, long usedBytes, long freeBytes) {
        /// Returns the bytes that fit within the limit and on the disk without an eviction.
        long room() {
            return Math.min(limitBytes - usedBytes, freeBytes);
        }
    }

    /// Chooses one of `candidates` for a replica of `bytes`; returns empty if none should take it.
    Optional<Path> choose(Digest dataset, long bytes, List<Candidate> candidates);

    /// Prefers the directory with the most room, among those with a sufficient limit.
    static ReplicaPlacement mostFree() {
        return (_, bytes, candidates) -> candidates.stream()
                .filter(candidate -> candidate.limitBytes() >= bytes)
                .max(Comparator.comparingLong(Candidate::room))
                .map(Candidate::directory);
    }
}

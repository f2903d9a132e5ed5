package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// A dataset on this node, for people, metrics and health.
///
/// @param bytes what it takes of a cache directory
/// @param attached its attachment, if it has one; what is behind it may for a while be something else than `state`
/// @param pinned whether its replica may not be evicted
/// @param lastUse when it was last attached or detached, if a cache directory knows
/// @param problem what went wrong last and has not gone right since
public record ReplicaStatus(
        Digest digest,
        ReplicaState state,
        long bytes,
        Optional<ImageMount> attached,
        boolean pinned,
        Optional<Instant> lastUse,
        Optional<String> problem) {
    /// One for each cache directory that has files of it.
    static Stream<ReplicaStatus> all(DatasetState state, List<CacheDirectories.FoundReplica> found) {
        return found.isEmpty()
                ? of(state, Optional.empty()).stream()
                : found.stream().flatMap(each -> of(state, Optional.of(each)).stream());
    }

    /// @param found its files in one cache directory, if there are any
    /// @return empty of a dataset that is not here
    static Optional<ReplicaStatus> of(DatasetState state, Optional<CacheDirectories.FoundReplica> found) {
        if (found.isEmpty() && !state.isAttached() && !state.isWanted()) {
            return Optional.empty();
        }
        ReplicaState reached = found.<ReplicaState>map(files -> files.whole()
                        ? new ReplicaState.Local(files.cache())
                        : new ReplicaState.Filling(files.percent(), files.cache()))
                .orElseGet(ReplicaState.Remote::new);
        return Optional.of(new ReplicaStatus(
                state.digest(),
                reached,
                found.map(CacheDirectories.FoundReplica::bytes).orElse(0L),
                state.attachment(found.map(CacheDirectories.FoundReplica::cache)),
                found.map(CacheDirectories.FoundReplica::pinned).orElse(false),
                found.map(CacheDirectories.FoundReplica::lastUse),
                state.problem()));
    }
}

package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// A dataset on this node, for administrators, metrics and health checks.
///
/// @param fill what is done now to make a replica
/// @param bytes the bytes it takes in a cache directory
/// @param progressBytes the bytes that were copied to replicas, and checked in them, in this run of the driver
/// @param attached its image mount, if any; for a while, its location may differ from `state`
/// @param pinned whether the replica is pinned on disk
/// @param lastUse the last attach or detach, if a cache directory has recorded it
/// @param problem the last failure; empty once a later fill or switch has succeeded
public record ReplicaStatus(
        Digest digest,
        ReplicaState state,
        FillStage fill,
        long bytes,
        long progressBytes,
        Optional<ImageMount> attached,
        boolean pinned,
        Optional<Instant> lastUse,
        Optional<String> problem) {
    /// Returns one status per cache directory with files of the dataset.
    static Stream<ReplicaStatus> all(DatasetState state, List<CacheDirectories.FoundReplica> found) {
        return found.isEmpty()
                ? of(state, Optional.empty()).stream()
                : found.stream().flatMap(each -> of(state, Optional.of(each)).stream());
    }

    /// @param found its files in one cache directory, if any
    /// @return empty for a dataset that the node does not have
    static Optional<ReplicaStatus> of(DatasetState state, Optional<CacheDirectories.FoundReplica> found) {
        DatasetState.Moment now = state.now();
        if (found.isEmpty() && !now.known().isAttached() && !now.wanted().isAny()) {
            return Optional.empty();
        }
        return Optional.of(new ReplicaStatus(
                state.digest(),
                reached(now, found),
                state.fill(),
                found.map(CacheDirectories.FoundReplica::bytes).orElse(0L),
                state.progressBytes(),
                now.known().tree(found.map(CacheDirectories.FoundReplica::cache)),
                found.map(CacheDirectories.FoundReplica::pinned).orElse(false),
                found.map(CacheDirectories.FoundReplica::lastUse),
                now.known().failures().problem()));
    }

    private static ReplicaState reached(DatasetState.Moment now, Optional<CacheDirectories.FoundReplica> found) {
        Optional<CacheDirectories.FoundReplica> whole = found.filter(CacheDirectories.FoundReplica::whole);
        if (whole.isPresent()) {
            return new ReplicaState.Local(whole.get().cache());
        }
        if (now.known().fill() instanceof FillStage.Queued(var before)) {
            return new ReplicaState.Queued(
                    found.map(CacheDirectories.FoundReplica::percent).orElse(0), before);
        }
        return found.<ReplicaState>map(files -> new ReplicaState.Filling(files.percent(), files.cache()))
                .orElseGet(ReplicaState.Remote::new);
    }
}

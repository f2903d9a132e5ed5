package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.mount.SharedValues;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Lists this node's datasets for administrators, metrics and health checks. Changes nothing.
final class ReplicaListing {
    private final SharedValues<Digest, DatasetState> states;
    private final CacheDirectories cacheDirectories;

    ReplicaListing(SharedValues<Digest, DatasetState> states, CacheDirectories cacheDirectories) {
        this.states = states;
        this.cacheDirectories = cacheDirectories;
    }

    /// Implements [Replicas#list].
    List<ReplicaStatus> all() {
        Map<Digest, List<CacheDirectories.FoundReplica>> found = cacheDirectories.inventory().stream()
                .collect(Collectors.groupingBy(CacheDirectories.FoundReplica::digest));
        return Stream.concat(found.keySet().stream(), states.keys())
                .distinct()
                .sorted(Comparator.comparing(Digest::hex))
                .flatMap(digest -> states
                        .use(
                                digest,
                                state -> ReplicaStatus.all(state, found.getOrDefault(digest, List.of()))
                                        .toList())
                        .stream())
                .toList();
    }

    /// Returns the status of a dataset; empty if the node does not have it.
    Optional<ReplicaStatus> status(DatasetState state) {
        return ReplicaStatus.of(
                state,
                cacheDirectories.of(state.digest()).stream()
                        .map(CacheDirectories.FoundReplica::of)
                        .reduce((one, other) -> one.whole() ? one : other));
    }

    /// Implements [Replicas#status].
    Optional<ReplicaStatus> status(String beginning) {
        return known().filter(digest -> digest.beginning().equals(beginning))
                .findFirst()
                .flatMap(digest -> states.use(digest, this::status));
    }

    /// Implements [Replicas#find].
    Digest named(DatasetName name) {
        return name.among(known().toList());
    }

    private Stream<Digest> known() {
        return Stream.concat(
                states.keys(), cacheDirectories.inventory().stream().map(CacheDirectories.FoundReplica::digest));
    }

    /// Implements [Replicas#problem].
    Optional<String> problem(String beginning) {
        return states.values()
                .filter(state -> state.digest().beginning().equals(beginning))
                .findFirst()
                .flatMap(state -> state.known().failures().problem());
    }

    /// Returns the image mounts as last seen. Accesses no disk.
    List<ImageMount> attached() {
        return states.values().flatMap(state -> state.known().trees().stream()).toList();
    }
}

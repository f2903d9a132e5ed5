package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.mount.ValuesInUse;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The datasets of this node as people, metrics and health see them. Changes nothing.
final class ReplicaListing {
    private final ValuesInUse<Digest, DatasetState> states;
    private final Caches caches;

    ReplicaListing(ValuesInUse<Digest, DatasetState> states, Caches caches) {
        this.states = states;
        this.caches = caches;
    }

    /// As [Replicas#list].
    List<ReplicaStatus> all() {
        Map<Digest, List<Caches.Found>> found =
                caches.inventory().stream().collect(Collectors.groupingBy(Caches.Found::digest));
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

    /// How far a dataset is; empty if it is not here.
    Optional<ReplicaStatus> status(DatasetState state) {
        return ReplicaStatus.of(
                state,
                caches.of(state.digest()).stream()
                        .map(Caches.Found::of)
                        .reduce((one, other) -> one.whole() ? one : other));
    }

    /// As [Replicas#status].
    Optional<ReplicaStatus> status(String beginning) {
        return known().filter(digest -> digest.beginning().equals(beginning))
                .findFirst()
                .flatMap(digest -> states.use(digest, this::status));
    }

    /// As [Replicas#find].
    Digest named(DatasetName name) {
        return name.among(known().toList());
    }

    private Stream<Digest> known() {
        return Stream.concat(states.keys(), caches.inventory().stream().map(Caches.Found::digest));
    }

    /// As [Replicas#problem].
    Optional<String> problem(String beginning) {
        return states.values()
                .filter(state -> state.digest().beginning().equals(beginning))
                .findFirst()
                .flatMap(DatasetState::problem);
    }

    /// What is attached, as it was last seen. Asks no disk.
    List<Attachment> attached() {
        return states.values().flatMap(state -> state.attachments().stream()).toList();
    }
}

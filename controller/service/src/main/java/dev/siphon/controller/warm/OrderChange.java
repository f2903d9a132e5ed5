package dev.siphon.controller.warm;

import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.csi.VolumeId.DatasetVolume;
import dev.siphon.csi.dataset.DatasetReplica.Question;
import dev.siphon.csi.dataset.DatasetReplica.State;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The next step for a node's order, as [#decide] decides it and [ReplicaOrderWriter] takes it.
sealed interface OrderChange {
    /// Create the order, or with nothing wanted the object by which the node waits for its turn to fill.
    record Write(DatasetOnNode place, DatasetVolume volume, boolean wanted) implements OrderChange {}

    /// Mark the order as wanted or not.
    record Want(OrderedReplica replica, boolean wanted) implements OrderChange {}

    /// Answer the node's question.
    record Answer(OrderedReplica replica, Question question) implements OrderChange {}

    /// Delete the order. If it is still wanted, the next round writes it again.
    record Forget(OrderedReplica replica) implements OrderChange {}

    /// Decides what to do about all orders, existing and missing. Touches nothing.
    ///
    /// @param used where pods use datasets, which nodes fill without an order. None if fills take no turns; empty
    ///     while it is not known.
    static List<OrderChange> decide(ObservedGates is, Set<DatasetOnNode> wanted, Optional<Set<DatasetOnNode>> used) {
        Set<String> nodes = is.nodes().stream().map(ClusterNode::name).collect(Collectors.toSet());
        Set<DatasetOnNode> there =
                is.replicas().stream().map(OrderedReplica::place).collect(Collectors.toSet());
        Stream<OrderChange> existing = is.replicas().stream()
                .flatMap(replica -> replica.isOf(is.declared())
                                && nodes.contains(replica.order().node())
                        ? of(replica, wanted.contains(replica.place()), mayBeUsed(replica, used)).stream()
                        : Stream.of(new Forget(replica)));
        Stream<OrderChange> missing = Stream.concat(
                        wanted.stream(), used.stream().flatMap(Set::stream))
                .distinct()
                .filter(place -> !there.contains(place) && nodes.contains(place.node()))
                .flatMap(place -> Optional.ofNullable(is.declared().get(place.dataset())).stream()
                        .map(shared -> new Write(place, shared.volume(), wanted.contains(place))));
        return Stream.concat(existing, missing).toList();
    }

    /// Returns the orders that stay. The others' turns are free before the API server has deleted them.
    static List<OrderedReplica> staying(List<OrderedReplica> replicas, List<OrderChange> changes) {
        Set<OrderChange> all = Set.copyOf(changes);
        return replicas.stream()
                .filter(replica -> !all.contains(new Forget(replica)))
                .toList();
    }

    private static boolean mayBeUsed(OrderedReplica replica, Optional<Set<DatasetOnNode>> used) {
        return used.map(places -> places.contains(replica.place())).orElse(true);
    }

    private static Optional<OrderChange> of(OrderedReplica replica, boolean isWanted, boolean mayBeUsed) {
        if (isWanted != replica.order().wanted()) {
            return Optional.of(new Want(replica, isWanted));
        }
        if (isWanted) {
            return replica.question().map(question -> new Answer(replica, question));
        }
        // one of which the node still has a part is kept: the next pod's fill is shorter there
        boolean isNothing = replica.state() == State.ABSENT && replica.percent() == 0;
        return isNothing && !mayBeUsed ? Optional.of(new Forget(replica)) : Optional.empty();
    }
}

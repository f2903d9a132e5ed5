package dev.siphon.controller.warm;

import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.csi.dataset.DatasetReplica.State;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Ranks nodes for pods with the same datasets. It is stateless: it derives earlier choices from the ordered replicas,
/// and ranks them first.
final class RankedNodes {
    private final ObservedGates is;

    /// Without those of volumes that lost their datasets' names.
    private final Map<DatasetOnNode, OrderedReplica> replicas;

    private final SuitableNodes suitable;

    RankedNodes(ObservedGates is) {
        this.is = is;
        this.replicas =
                is.current().stream().collect(Collectors.toMap(OrderedReplica::place, each -> each, (one, _) -> one));
        this.suitable = new SuitableNodes(is.nodes());
    }

    /// Returns where pods may run, and which nodes have room.
    SuitableNodes suitable() {
        return suitable;
    }

    /// Returns the suitable nodes, best first: nodes that can fill the datasets, have room for a pod now, hold
    /// most of the datasets already, and have most devices free.
    List<ClusterNode> of(Collection<GatedPod> pods, Set<String> datasets) {
        Set<String> suited = new HashSet<>();
        Set<String> withRoom = new HashSet<>();
        for (GatedPod pod : pods) {
            suited.addAll(suitable.of(pod));
            withRoom.addAll(suitable.withRoom(pod));
        }
        return ranked(suited, withRoom, datasets);
    }

    /// Returns the nodes that suit a pod which does not run soon, best first: what runs there now does not count.
    List<ClusterNode> later(GatedPod pod, Set<String> datasets) {
        Set<String> suited = suitable.of(pod);
        return ranked(suited, suited, datasets);
    }

    private List<ClusterNode> ranked(Set<String> suited, Set<String> withRoom, Set<String> datasets) {
        return is.nodes().stream()
                .filter(node -> suited.contains(node.name()))
                .map(node -> new Rank(
                        node,
                        isTroubled(datasets, node),
                        !withRoom.contains(node.name()),
                        progress(datasets, node),
                        suitable.devices(node)))
                .sorted(Rank.BEST_FIRST)
                .map(Rank::node)
                .toList();
    }

    /// @param troubled whether it cannot fill the datasets
    /// @param full whether it has no room for any of the pods now
    /// @param progress how much of the datasets it holds
    /// @param devices number of free devices
    private record Rank(ClusterNode node, boolean troubled, boolean full, int progress, BigDecimal devices) {
        static final Comparator<Rank> BEST_FIRST = Comparator.comparing(Rank::troubled)
                .thenComparing(Rank::full)
                .thenComparing(Rank::progress, Comparator.reverseOrder())
                .thenComparing(Rank::devices, Comparator.reverseOrder())
                .thenComparing(rank -> rank.node().name());
    }

    /// Returns the orders of the datasets for a node.
    Stream<OrderedReplica> replicas(Set<String> datasets, ClusterNode node) {
        return datasets.stream()
                .flatMap(
                        dataset -> Optional.ofNullable(replicas.get(new DatasetOnNode(dataset, node.name()))).stream());
    }

    /// Returns why a node cannot fill the datasets; empty if it can.
    List<String> troubles(Set<String> datasets, ClusterNode node) {
        return replicas(datasets, node)
                .flatMap(replica -> replica.trouble(is.now()).stream())
                .toList();
    }

    boolean isTroubled(Set<String> datasets, ClusterNode node) {
        return !troubles(datasets, node).isEmpty();
    }

    /// Returns whether a node has whole replicas of all the datasets.
    boolean isWhole(Set<String> datasets, ClusterNode node) {
        return replicas(datasets, node).filter(OrderedReplica::isLocal).count() == datasets.size();
    }

    /// Returns whether a node fills none of the datasets, and waits for its turn to fill one.
    boolean isQueued(Set<String> datasets, ClusterNode node) {
        return replicas(datasets, node).anyMatch(replica -> replica.state() == State.QUEUED)
                && replicas(datasets, node).noneMatch(replica -> replica.state() == State.FILLING);
    }

    /// Returns whether a node in trouble has an order, which it keeps: it tries again by itself. Otherwise its
    /// trouble would be forgotten with the order, and the same order written again.
    boolean isTried(Set<String> datasets, ClusterNode node) {
        return isTroubled(datasets, node)
                && replicas(datasets, node).anyMatch(replica -> replica.order().wanted());
    }

    /// Returns how much of the datasets a node holds. An order alone counts too, so that the same nodes are
    /// chosen again.
    private int progress(Set<String> datasets, ClusterNode node) {
        return replicas(datasets, node)
                .mapToInt(replica -> replica.percent() + (replica.order().wanted() ? 1 : 0))
                .sum();
    }
}

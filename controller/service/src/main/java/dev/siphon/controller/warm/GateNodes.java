package dev.siphon.controller.warm;

import dev.siphon.controller.warm.GatedDatasets.ReadDecision;
import dev.siphon.controller.warm.ObservedGate.Choice;
import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Chooses on which nodes to fill datasets for gated pods, and has [GateDecision] decide about each pod. It is
/// stateless: it derives earlier choices from the ordered replicas, and repeats them.
final class GateNodes {
    private final ObservedGates is;
    private final GateSettings settings;

    private final RankedNodes nodes;
    private final SuitableNodes suitable;

    GateNodes(ObservedGates is, GateSettings settings) {
        this.is = is;
        this.settings = settings;
        this.nodes = new RankedNodes(is);
        this.suitable = nodes.suitable();
    }

    /// @param verdicts one for each pod
    /// @param wanted where datasets are wanted for the pods
    record Decision(Map<GatedPod, GateVerdict> verdicts, Set<DatasetOnNode> wanted) {}

    /// Pods whose nodes are chosen together: one group with the same datasets.
    private record Together(String group, Set<String> datasets) {}

    Decision decide() {
        Map<GatedPod, GateVerdict> verdicts = new HashMap<>();
        Map<Together, List<GatedPod>> groups = new HashMap<>();
        is.reads().forEach((pod, read) -> {
            if (read instanceof ReadDecision.All(var datasets)
                    && !suitable.of(pod).isEmpty()) {
                groups.computeIfAbsent(
                                new Together(pod.namespace() + "/" + pod.group(), datasets), _ -> new ArrayList<>())
                        .add(pod);
            } else {
                verdicts.put(pod, verdict(pod, read, false, List.of()));
            }
        });
        Set<DatasetOnNode> wanted = undecided().collect(Collectors.toCollection(HashSet::new));
        groups.forEach((together, pods) -> {
            pods.sort(Comparator.comparing(GatedPod::since).thenComparing(GatedPod::uid));
            List<ClusterNode> ranked = nodes.of(pods, together.datasets());
            Set<ClusterNode> room = room(pods, ranked);
            List<ObservedGate.Place> places = places(together.datasets(), ranked, room);
            pods.forEach(pod -> verdicts.put(
                    pod, verdict(pod, new ReadDecision.All(together.datasets()), !room.isEmpty(), places)));
            places.stream()
                    .filter(ObservedGate.Place::isFilled)
                    .forEach(place -> together.datasets()
                            .forEach(dataset -> wanted.add(
                                    new DatasetOnNode(dataset, place.node().name()))));
        });
        return new Decision(verdicts, wanted);
    }

    private GateVerdict verdict(GatedPod pod, ReadDecision read, boolean isRoom, List<ObservedGate.Place> nodes) {
        return GateDecision.decide(new ObservedGate(
                read,
                is.now(),
                pod.since(),
                settings.patience(pod),
                pod.isPlacementRequired(),
                suitable.of(pod),
                isRoom,
                nodes));
    }

    /// Keeps what was wanted before, perhaps by an earlier leader, if it may be for a pod that is not decided yet.
    private Stream<DatasetOnNode> undecided() {
        boolean isUnknown = is.reads().containsValue(new ReadDecision.Unknown());
        Set<String> pending = is.reads().values().stream()
                .flatMap(read ->
                        read instanceof ReadDecision.Pending(var datasets) ? datasets.stream() : Stream.<String>empty())
                .collect(Collectors.toSet());
        return is.replicas().stream()
                .filter(replica -> replica.order().wanted()
                        && (isUnknown || pending.contains(replica.order().dataset())))
                .map(OrderedReplica::place);
    }

    /// Returns the nodes that the pods will run on, as far as there is room now.
    private Set<ClusterNode> room(List<GatedPod> pods, List<ClusterNode> ranked) {
        Set<ClusterNode> room = new LinkedHashSet<>();
        Map<String, ResourceAmounts> left = new HashMap<>();
        for (GatedPod pod : pods) {
            ranked.stream()
                    .filter(node -> suitable.of(pod).contains(node.name()))
                    .filter(node ->
                            left.getOrDefault(node.name(), suitable.free(node)).hold(pod.needs()))
                    .findFirst()
                    .ifPresent(node -> {
                        room.add(node);
                        left.merge(
                                node.name(),
                                suitable.free(node).minus(pod.needs()),
                                (now, _) -> now.minus(pod.needs()));
                    });
        }
        return room;
    }

    /// Chooses nodes: those with room for the pods, and more of the best until [GateSettings#spread]. If none has
    /// room, the gate waits for all that are chosen.
    private List<ObservedGate.Place> places(Set<String> datasets, List<ClusterNode> ranked, Set<ClusterNode> room) {
        Set<ClusterNode> chosen = new LinkedHashSet<>(room);
        ranked.stream()
                .filter(node -> !nodes.isTroubled(datasets, node))
                .takeWhile(_ -> chosen.size() < settings.spread())
                .forEach(chosen::add);
        if (chosen.isEmpty()) {
            chosen.add(ranked.getFirst()); // the fill is retried there, and its error explains the wait
        }
        Set<ClusterNode> needed = room.isEmpty() ? chosen : room;
        return ranked.stream()
                .map(node -> new ObservedGate.Place(
                        node,
                        needed.contains(node)
                                ? Choice.NEEDED
                                : chosen.contains(node) || nodes.isTried(datasets, node) ? Choice.SPARE : Choice.NONE,
                        nodes.isWhole(datasets, node),
                        nodes.isQueued(datasets, node),
                        nodes.replicas(datasets, node)
                                .map(OrderedReplica::describe)
                                .toList(),
                        nodes.troubles(datasets, node)))
                .toList();
    }
}

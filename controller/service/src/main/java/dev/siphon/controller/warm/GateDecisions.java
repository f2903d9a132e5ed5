package dev.siphon.controller.warm;

import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.controller.warm.WarmupCluster.Notice;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Decides on which nodes to fill datasets for gated pods, and when their gates open. It is stateless: it derives
/// earlier decisions from the ordered replicas, and repeats them.
final class GateDecisions {
    /// How long a pod waits if no node can fill its datasets, because a failed fill may succeed on retry.
    static final Duration GRACE = Duration.ofSeconds(30);

    private final Instant now;
    private final GateSettings settings;
    private final List<ClusterNode> nodes;
    private final Map<DatasetOnNode, OrderedReplica> replicas;

    private final SuitableNodes suitable;

    /// @param nodes the current nodes
    /// @param replicas the replicas that nodes were ordered to fill
    GateDecisions(Instant now, GateSettings settings, List<ClusterNode> nodes, Collection<OrderedReplica> replicas) {
        this.now = now;
        this.settings = settings;
        this.nodes = List.copyOf(nodes);
        this.replicas =
                replicas.stream().collect(Collectors.toMap(OrderedReplica::place, each -> each, (one, _) -> one));
        this.suitable = new SuitableNodes(nodes);
    }

    /// @param verdicts one for each pod
    /// @param wanted where its datasets are wanted
    record Decision(Map<GatedPod, GateVerdict> verdicts, Set<DatasetOnNode> wanted) {}

    /// Decides about the pods of one group.
    ///
    /// @param pods at least one
    /// @param datasets the datasets that each of them reads; at least one
    Decision decide(List<GatedPod> pods, Set<String> datasets) {
        Map<GatedPod, GateVerdict> verdicts = new LinkedHashMap<>();
        List<GatedPod> able = new ArrayList<>();
        for (GatedPod pod : pods) {
            if (suitable.of(pod).isEmpty()) {
                verdicts.put(pod, unsuited());
            } else {
                able.add(pod);
            }
        }
        if (able.isEmpty()) {
            return new Decision(verdicts, Set.of());
        }
        able.sort(Comparator.comparing(GatedPod::since).thenComparing(GatedPod::uid));
        List<ClusterNode> ranked = ranked(able, datasets);
        Choice choice = chooseNodes(able, datasets, ranked);
        List<String> warm = ranked.stream()
                .filter(node -> isLocal(datasets, node))
                .map(ClusterNode::hostname)
                .toList();
        able.forEach(pod -> verdicts.put(pod, verdict(pod, datasets, choice, warm)));
        Set<DatasetOnNode> wanted = new LinkedHashSet<>();
        choice.warmed()
                .forEach(node -> datasets.forEach(dataset -> wanted.add(new DatasetOnNode(dataset, node.name()))));
        return new Decision(verdicts, wanted);
    }

    /// Opens the gate, because an autoscaler ignores gated pods and would never add a node.
    private static GateVerdict unsuited() {
        return new GateVerdict.Open(
                List.of(),
                "unsuited",
                new Notice(
                        true,
                        "DatasetNotWarm",
                        "no node of the cluster suits the pod, so its dataset is filled nowhere; the gate"
                                + " opens, so that the scheduler says why and an autoscaler sees the pod"));
    }

    /// Returns the suitable nodes, best first: nodes that can fill the datasets, have room for a pod now, hold
    /// most of the datasets already, and have most devices free.
    private List<ClusterNode> ranked(List<GatedPod> pods, Set<String> datasets) {
        Set<String> suited = new HashSet<>();
        Set<String> withRoom = new HashSet<>();
        for (GatedPod pod : pods) {
            suited.addAll(suitable.of(pod));
            withRoom.addAll(suitable.withRoom(pod));
        }
        return nodes.stream()
                .filter(node -> suited.contains(node.name()))
                .map(node -> new Rank(
                        node,
                        !troubles(datasets, node).isEmpty(),
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

    private Stream<OrderedReplica> replicas(Set<String> datasets, ClusterNode node) {
        return datasets.stream()
                .flatMap(
                        dataset -> Optional.ofNullable(replicas.get(new DatasetOnNode(dataset, node.name()))).stream());
    }

    private List<String> troubles(Set<String> datasets, ClusterNode node) {
        return replicas(datasets, node)
                .flatMap(replica -> replica.trouble(now).stream())
                .toList();
    }

    /// Returns how much of the datasets a node holds. An order alone counts too, so that the same nodes are
    /// chosen again.
    private int progress(Set<String> datasets, ClusterNode node) {
        return replicas(datasets, node)
                .mapToInt(replica -> replica.percent() + (replica.order().wanted() ? 1 : 0))
                .sum();
    }

    private boolean isLocal(Set<String> datasets, ClusterNode node) {
        return replicas(datasets, node).filter(OrderedReplica::isLocal).count() == datasets.size();
    }

    /// @param needed the nodes that the pods will run on, as far as there is room now
    /// @param isRoom whether any of the pods has room now
    /// @param warmed the nodes on which the datasets are filled
    private record Choice(List<ClusterNode> needed, boolean isRoom, List<ClusterNode> warmed) {}

    private Choice chooseNodes(List<GatedPod> pods, Set<String> datasets, List<ClusterNode> ranked) {
        Set<ClusterNode> needed = new LinkedHashSet<>();
        Map<String, ResourceAmounts> left = new HashMap<>();
        for (GatedPod pod : pods) {
            ranked.stream()
                    .filter(node -> suitable.of(pod).contains(node.name()))
                    .filter(node ->
                            left.getOrDefault(node.name(), suitable.free(node)).hold(pod.needs()))
                    .findFirst()
                    .ifPresent(node -> {
                        needed.add(node);
                        left.merge(
                                node.name(),
                                suitable.free(node).minus(pod.needs()),
                                (now, _) -> now.minus(pod.needs()));
                    });
        }
        boolean isRoom = !needed.isEmpty();
        Set<ClusterNode> warmed = new LinkedHashSet<>(needed);
        ranked.stream()
                .filter(node -> troubles(datasets, node).isEmpty())
                .takeWhile(_ -> warmed.size() < settings.spread())
                .forEach(warmed::add);
        if (warmed.isEmpty()) {
            warmed.add(ranked.getFirst()); // the fill is retried there, and its error explains the wait
        }
        return new Choice(List.copyOf(isRoom ? needed : warmed), isRoom, List.copyOf(warmed));
    }

    private GateVerdict verdict(GatedPod pod, Set<String> datasets, Choice choice, List<String> warm) {
        String what = String.join(", ", datasets);
        Instant end = settings.end(pod);
        List<ClusterNode> possible = choice.needed().stream()
                .filter(node -> troubles(datasets, node).isEmpty())
                .toList();
        boolean ready = choice.isRoom()
                ? !possible.isEmpty() && possible.stream().allMatch(node -> isLocal(datasets, node))
                : possible.stream().anyMatch(node -> isLocal(datasets, node));
        if (ready) {
            return new GateVerdict.Open(
                    warm,
                    "warm",
                    new Notice(
                            false, "DatasetWarm", "dataset " + what + " is on a disk of " + String.join(", ", warm)));
        }
        if (now.isAfter(end)) {
            return late(pod, what, datasets, choice, warm);
        }
        if (possible.isEmpty() && now.isAfter(pod.since().plus(GRACE))) {
            return new GateVerdict.Open(
                    warm,
                    "failed",
                    new Notice(
                            true,
                            "DatasetNotWarm",
                            "dataset " + what + " cannot be filled where the pod may run, so the pod reads it"
                                    + " from CephFS: "
                                    + choice.warmed().stream()
                                            .flatMap(node -> troubles(datasets, node).stream())
                                            .collect(Collectors.joining("; "))));
        }
        return new GateVerdict.Wait(new Notice(
                false,
                "DatasetWarming",
                "dataset " + what + " is being filled on " + names(choice.needed()) + "; the pod waits for that"
                        + " until " + end
                        + " at most"));
    }

    private GateVerdict late(GatedPod pod, String what, Set<String> datasets, Choice choice, List<String> warm) {
        String far = choice.warmed().stream()
                .flatMap(node -> replicas(datasets, node))
                .map(OrderedReplica::describe)
                .collect(Collectors.joining(", "));
        return new GateVerdict.Open(
                warm,
                "late",
                new Notice(
                        true,
                        "DatasetNotWarm",
                        "dataset " + what + " is not whole where the pod will run after "
                                + settings.patience(pod).toSeconds()
                                + " s, so the gate opens; until it is whole, the pod reads it from CephFS: "
                                + (far.isEmpty() ? "no replica was ordered yet" : far)));
    }

    private static String names(List<ClusterNode> nodes) {
        return nodes.stream().map(ClusterNode::name).sorted().collect(Collectors.joining(", "));
    }
}

package dev.siphon.controller.warm;

import dev.siphon.controller.warm.DataCheck.Settings;
import dev.siphon.controller.warm.GatedDatasets.ReadDecision;
import dev.siphon.controller.warm.ObservedCheck.Loading;
import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.controller.warm.QueuedWorkload.Phase;
import dev.siphon.controller.warm.QueuedWorkload.PodSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Chooses the nodes where a Workload of Kueue wants its datasets, and says how far they are there.
final class LoadingPlanner {
    /// The longest text: Kueue takes 32 KiB.
    private static final int LONGEST = 2_000;

    private final ObservedGates is;
    private final GateSettings settings;
    private final FillTimes times;
    private final Map<String, DataCheck.Flavor> flavors;
    private final Map<GatedPod, ReadDecision> reads;
    private final RankedNodes nodes;

    /// @param flavors Kueue's, by name
    /// @param reads what each pod reads
    LoadingPlanner(
            ObservedGates is,
            GateSettings settings,
            FillTimes times,
            Map<String, DataCheck.Flavor> flavors,
            Map<GatedPod, ReadDecision> reads) {
        this.is = is;
        this.settings = settings;
        this.times = times;
        this.flavors = flavors;
        this.reads = reads;
        this.nodes = new RankedNodes(is);
    }

    /// @param reads what all pods of the Workload read
    /// @param wanted where its datasets are wanted; empty if that is not known now
    record Plan(ReadDecision reads, Optional<Set<DatasetOnNode>> wanted, Loading loading) {}

    /// Nodes for pods that are alike.
    ///
    /// @param suited how many suit them
    /// @param needed those that are to have the datasets before the pods run
    /// @param filled those, and more
    private record Chosen(Set<String> datasets, int suited, List<ClusterNode> needed, Set<ClusterNode> filled) {}

    Plan plan(QueuedWorkload workload, Settings asked) {
        ReadDecision all = all(workload);
        if (all instanceof ReadDecision.Unknown) {
            return new Plan(all, Optional.empty(), Loading.NOTHING);
        }
        boolean isLater = workload.phase().isReleased();
        if (workload.phase() != Phase.RESERVED && !isLater) {
            return new Plan(all, Optional.of(Set.of()), Loading.NOTHING); // nothing is wanted for it
        }
        List<Chosen> chosen = workload.podSets().stream()
                .flatMap(set -> chosen(set, asked, isLater).stream())
                .toList();
        Set<DatasetOnNode> wanted = new HashSet<>();
        chosen.forEach(each -> each.filled()
                .forEach(node -> each.datasets().forEach(name -> wanted.add(new DatasetOnNode(name, node.name())))));
        return new Plan(all, Optional.of(wanted), loading(chosen));
    }

    /// Returns what all pods of a Workload read: what keeps one of them from running keeps all.
    private ReadDecision all(QueuedWorkload workload) {
        Set<String> datasets = new TreeSet<>();
        List<ReadDecision> every =
                workload.podSets().stream().map(set -> read(set.pod())).toList();
        every.forEach(read -> datasets.addAll(datasets(read)));
        return first(every, ReadDecision.Unknown.class)
                .or(() -> first(every, ReadDecision.Cannot.class))
                .or(() -> first(every, ReadDecision.Unbound.class)
                        .map(unbound -> new ReadDecision.Unbound(datasets, ((ReadDecision.Unbound) unbound).why())))
                .or(() -> datasets.isEmpty() ? Optional.empty() : Optional.of(new ReadDecision.All(datasets)))
                .or(() -> every.stream()
                        .filter(read -> read instanceof ReadDecision.Nothing(var why) && why.warning())
                        .findFirst())
                .or(() -> every.stream().findFirst())
                .orElseGet(ReadDecision.Unknown::new);
    }

    private static Optional<ReadDecision> first(List<ReadDecision> every, Class<? extends ReadDecision> kind) {
        return every.stream().filter(kind::isInstance).findFirst();
    }

    private ReadDecision read(GatedPod pod) {
        return Optional.ofNullable(reads.get(pod)).orElseGet(ReadDecision.Unknown::new);
    }

    private static Set<String> datasets(ReadDecision read) {
        return switch (read) {
            case ReadDecision.All(var datasets) -> datasets;
            case ReadDecision.Unbound(var datasets, var _) -> datasets;
            case ReadDecision.Pending(var datasets) -> datasets;
            case ReadDecision.Nothing _, ReadDecision.Cannot _, ReadDecision.Unknown _ -> Set.of();
        };
    }

    /// @param isLater whether the pods do not run soon: others may have taken the room by then that is free now, and
    ///     given back what they have
    private Optional<Chosen> chosen(PodSet set, Settings asked, boolean isLater) {
        Set<String> datasets = datasets(read(set.pod()));
        if (datasets.isEmpty() || set.count() == 0) {
            return Optional.empty();
        }
        GatedPod pod = inFlavors(set);
        List<ClusterNode> ranked = isLater ? nodes.later(pod, datasets) : nodes.of(List.of(pod), datasets);
        Function<ClusterNode, ResourceAmounts> room = isLater ? ClusterNode::room : nodes.suitable()::free;
        int least = asked.replicas().orElseGet(() -> needed(pod, set.count(), ranked, room));
        int most = asked.replicas().orElse(Math.max(least, settings.spread()));
        List<ClusterNode> possible = ranked.stream()
                .filter(node -> !nodes.isTroubled(datasets, node))
                .toList();
        // where none can, the fill is retried on the first, and its error explains the wait
        List<ClusterNode> needed = possible.isEmpty()
                ? ranked.stream().limit(1).toList()
                : possible.stream().limit(least).toList();
        Set<ClusterNode> filled = new LinkedHashSet<>(needed);
        possible.stream().limit(most).forEach(filled::add);
        ranked.stream().filter(node -> nodes.isTried(datasets, node)).forEach(filled::add);
        return Optional.of(new Chosen(datasets, ranked.size(), needed, filled));
    }

    /// Returns the pod as Kueue will create it.
    private GatedPod inFlavors(PodSet set) {
        return set.flavors().stream()
                .sorted()
                .flatMap(name -> Optional.ofNullable(flavors.get(name)).stream())
                .reduce(
                        set.pod(),
                        (pod, flavor) -> pod.within(pod.rules().with(flavor.labels(), flavor.tolerations())),
                        (one, _) -> one);
    }

    /// Returns how many nodes so many pods need, each at least one pod: where there is no room now, there will be.
    private static int needed(
            GatedPod pod, int count, List<ClusterNode> ranked, Function<ClusterNode, ResourceAmounts> room) {
        int left = count;
        int needed = 0;
        for (ClusterNode node : ranked) {
            if (left <= 0) {
                break;
            }
            left -= Math.max(1, room.apply(node).times(pod.needs(), left));
            needed++;
        }
        return needed;
    }

    private Loading loading(List<Chosen> chosen) {
        boolean isWhole = chosen.stream().allMatch(this::isWhole);
        return new Loading(
                chosen.stream().mapToInt(Chosen::suited).sum(),
                isWhole,
                !isWhole && chosen.stream().allMatch(this::isHopeless),
                progress(chosen),
                left(chosen));
    }

    private boolean isWhole(Chosen each) {
        return each.needed().stream().allMatch(node -> nodes.isWhole(each.datasets(), node));
    }

    private boolean isHopeless(Chosen each) {
        return each.needed().stream().allMatch(node -> nodes.isTroubled(each.datasets(), node));
    }

    /// Returns about how long the slowest replica takes; empty if that of one is not known.
    private Optional<Duration> left(List<Chosen> chosen) {
        Duration longest = Duration.ZERO;
        for (Chosen each : chosen) {
            for (ClusterNode node : each.needed()) {
                List<OrderedReplica> replicas =
                        nodes.replicas(each.datasets(), node).toList();
                List<Duration> known = replicas.stream()
                        .flatMap(replica -> times.left(replica, is.now()).stream())
                        .toList();
                if (known.size() < each.datasets().size()) {
                    return Optional.empty();
                }
                longest = Stream.concat(known.stream(), Stream.of(longest))
                        .max(Duration::compareTo)
                        .orElseThrow();
            }
        }
        return Optional.of(longest);
    }

    private String progress(List<Chosen> chosen) {
        Map<String, Set<ClusterNode>> byDataset = new TreeMap<>();
        chosen.forEach(each -> each.datasets()
                .forEach(name -> byDataset
                        .computeIfAbsent(name, _ -> new LinkedHashSet<>())
                        .addAll(each.needed())));
        List<String> texts = new ArrayList<>();
        byDataset.forEach((name, places) -> texts.add(progress(name, places)));
        chosen.stream()
                .flatMap(each -> each.filled().stream().flatMap(node -> nodes.troubles(each.datasets(), node).stream()))
                .distinct()
                .forEach(texts::add);
        String all = String.join("; ", texts);
        return all.length() <= LONGEST ? all : all.substring(0, LONGEST) + " ...";
    }

    /// As in `dataset u1.x: 2 of 4 replicas, 61 %, about 40 s left`.
    private String progress(String dataset, Collection<ClusterNode> places) {
        Map<String, OrderedReplica> there = new HashMap<>();
        places.forEach(node -> nodes.replicas(Set.of(dataset), node).forEach(each -> there.put(node.name(), each)));
        long whole = there.values().stream().filter(OrderedReplica::isLocal).count();
        if (whole == places.size()) {
            return "dataset " + dataset + " is on a disk of "
                    + places.stream().map(ClusterNode::name).sorted().collect(Collectors.joining(", "));
        }
        int percent = there.values().stream().mapToInt(OrderedReplica::percent).sum() / Math.max(1, places.size());
        List<Duration> left = there.values().stream()
                .flatMap(each -> times.left(each, is.now()).stream())
                .toList();
        String time = left.size() < places.size()
                ? ""
                : ", about "
                        + left.stream().max(Duration::compareTo).orElseThrow().toSeconds() + " s left";
        return "dataset " + dataset + ": " + whole + " of " + places.size() + " replicas, " + percent + " %" + time;
    }
}

package dev.siphon.controller.warm;

import dev.siphon.controller.warm.Replica.Place;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.Quoted;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Looks at the pods that wait at the gate and at what administrators want ahead of time, again and again; has
/// nodes fill what is wanted, and lets pods go.
///
/// A look costs the API server three lists, and two more where a pod is new, and every [#NODES_AGE]; more for pods
/// whose devices are allocated by claims, as [WarmingCluster#gated] has it; and for each
/// pod that is let go one change and one event, and one event more if it had to wait. Looks take a fifth of the
/// time at most, so that a cluster with very many pods is looked at more seldom.
public final class Warming implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Warming.class);
    private static final Duration PAUSE = Duration.ofSeconds(1);

    /// Of all time, what is not spent listing.
    private static final int PAUSES = 4;

    /// How old may be what is known of nodes.
    static final Duration NODES_AGE = Duration.ofSeconds(10);

    /// When to tell the same again: the API server forgets events after an hour.
    private static final Duration AGAIN = Duration.ofMinutes(20);

    private final WarmingCluster cluster;
    private final GateSettings settings;
    private final Supplier<Grants> grants;
    private final InstantSource clock;
    private final WarmingMetrics metrics;
    private final Orders orders;
    private final Reading reading;
    private final ScheduledExecutorService worker = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("dataset-warming").factory());

    private List<ClusterNode> nodes = List.of();
    private Instant nodesSeen = Instant.EPOCH;

    /// Why the last look came to nothing.
    private Optional<String> trouble = Optional.empty();

    /// The pods that were there at the last look.
    private Set<Asking> asking = Set.of();

    /// What the people of pods were told last, and when, by the pods' uids.
    private final Map<String, Told> told = new HashMap<>();

    /// What a pod asks for may be known later than the pod: a claim is made after it.
    private record Asking(String uid, Resources needs) {}

    private record Told(WarmingCluster.Notice notice, Instant when) {}

    /// @param grants the datasets that there are, and who may read them
    /// @param answers to a node's question about a dataset of that name
    public Warming(
            WarmingCluster cluster,
            GateSettings settings,
            Supplier<Grants> grants,
            BiFunction<DatasetReplica.Question, String, DatasetAccess.Answer> answers,
            WarmingMetrics metrics,
            InstantSource clock) {
        this.cluster = cluster;
        this.settings = settings;
        this.grants = grants;
        this.clock = clock;
        this.metrics = metrics;
        this.orders = new Orders(cluster, answers);
        this.reading = new Reading(cluster);
    }

    /// Begins to look.
    public Warming start() {
        worker.execute(this::keep);
        return this;
    }

    @Override
    public void close() {
        worker.shutdownNow();
        orders.close();
    }

    /// Throws nothing that is not an [Error], since nobody would look again.
    private void keep() {
        Duration listing = Duration.ZERO;
        try {
            listing = look();
            trouble = Optional.empty();
        } catch (DriverException notNow) {
            Optional<String> why = Optional.ofNullable(notNow.getMessage());
            if (!why.equals(trouble)) {
                LOG.warn("pods at the gate wait: {}", notNow.getMessage());
            }
            trouble = why;
        } catch (RuntimeException unforeseen) {
            LOG.error("pods at the gate are looked at again in a moment", unforeseen);
        }
        Duration pause = Collections.max(List.of(PAUSE, listing.multipliedBy(PAUSES)));
        try {
            var _ = worker.schedule(this::keep, pause.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException _) {
            // the process ends
        }
    }

    /// Looks once.
    ///
    /// @return how long it took to list what there is
    /// @throws DriverException if anything of it cannot be known now
    public Duration look() {
        Instant begun = clock.instant();
        List<GatedPod> gated = cluster.gated();
        List<Warmup> warmups = cluster.warmups();
        List<Replica> replicas = cluster.replicas();
        metrics.waiting(gated.size());
        if (gated.isEmpty() && warmups.isEmpty() && replicas.isEmpty()) {
            asking = Set.of();
            told.clear();
            return Duration.between(begun, clock.instant());
        }
        see(gated);
        Duration listing = Duration.between(begun, clock.instant());
        Map<String, Shared> declared = grants.get().datasets();
        Gates gates = new Gates(clock.instant(), settings, nodes, replicas);
        Set<Place> wanted = new HashSet<>();
        Map<GatedPod, Verdict> verdicts = new HashMap<>();
        for (Map.Entry<Together, List<GatedPod>> group : groups(gated, declared, verdicts)) {
            Gates.Decision decision =
                    gates.decide(group.getValue(), group.getKey().datasets());
            wanted.addAll(decision.wanted());
            verdicts.putAll(decision.verdicts());
        }
        warmups.forEach(warmup -> ahead(warmup, declared, replicas, wanted));
        orders.keep(
                wanted,
                replicas,
                declared,
                nodes.stream().map(ClusterNode::name).collect(Collectors.toSet()));
        verdicts.forEach(this::carryOut);
        return listing;
    }

    private void see(List<GatedPod> gated) {
        Set<Asking> before = asking;
        asking = gated.stream().map(pod -> new Asking(pod.uid(), pod.needs())).collect(Collectors.toSet());
        Set<String> uids = gated.stream().map(GatedPod::uid).collect(Collectors.toSet());
        told.keySet().retainAll(uids);
        reading.keepOnly(uids);
        if (!before.containsAll(asking) || nodesSeen.plus(NODES_AGE).isBefore(clock.instant())) {
            nodes = cluster.nodes();
            nodesSeen = clock.instant();
        }
    }

    /// Pods that are warmed for together: of one group, with the same datasets.
    private record Together(String group, Set<String> datasets) {}

    /// @param verdicts gets those of pods that are in no group, since there is nothing to wait for
    private Collection<Map.Entry<Together, List<GatedPod>>> groups(
            List<GatedPod> gated, Map<String, Shared> declared, Map<GatedPod, Verdict> verdicts) {
        Map<Together, List<GatedPod>> groups = new HashMap<>();
        for (GatedPod pod : gated) {
            switch (reading.of(pod, declared)) {
                case Reading.Read.Nothing _ ->
                    verdicts.put(
                            pod,
                            new Verdict.Open(
                                    List.of(),
                                    "nothing",
                                    new WarmingCluster.Notice(
                                            false, "DatasetWarm", "the pod reads no dataset that could be warmed")));
                case Reading.Read.Cannot(var why) -> verdicts.put(pod, new Verdict.Wait(why));
                case Reading.Read.All(var datasets) ->
                    groups.computeIfAbsent(
                                    new Together(pod.namespace() + "/" + pod.group(), datasets), _ -> new ArrayList<>())
                            .add(pod);
            }
        }
        return groups.entrySet();
    }

    /// @param wanted gets what is wanted ahead of time
    private void ahead(Warmup warmup, Map<String, Shared> declared, List<Replica> replicas, Set<Place> wanted) {
        Warmup.Status status = status(warmup, declared, replicas, wanted);
        if (!warmup.said().equals(Optional.of(status))) {
            cluster.report(warmup, status);
        }
    }

    private Warmup.Status status(
            Warmup warmup, Map<String, Shared> declared, List<Replica> replicas, Set<Place> wanted) {
        String dataset;
        try {
            dataset = Dataset.name("dataset", warmup.dataset());
        } catch (DriverException.InvalidRequest wrong) {
            return new Warmup.Status(0, 0, String.valueOf(wrong.getMessage()));
        }
        if (!declared.containsKey(dataset)) {
            return new Warmup.Status(0, 0, "there is no dataset " + Quoted.of(dataset));
        }
        if (warmup.until().filter(end -> end.isBefore(clock.instant())).isPresent()) {
            return new Warmup.Status(0, 0, "its time is over");
        }
        Map<Place, Optional<Replica>> places = new TreeMap<>(Comparator.comparing(Place::node));
        nodes.stream()
                .filter(node ->
                        node.labels().entrySet().containsAll(warmup.selector().entrySet()))
                .map(node -> new Place(dataset, node.name()))
                .forEach(place -> places.put(
                        place,
                        replicas.stream()
                                .filter(replica -> replica.place().equals(place))
                                .findFirst()));
        wanted.addAll(places.keySet());
        int local = (int) places.values().stream()
                .filter(replica -> replica.filter(Replica::isLocal).isPresent())
                .count();
        String trouble = places.values().stream()
                .flatMap(replica -> replica.flatMap(each -> each.trouble(clock.instant())).stream())
                .findFirst()
                .orElse(places.isEmpty() ? "no node has these labels" : "");
        return new Warmup.Status(places.size(), local, trouble);
    }

    /// What cannot be done to one pod keeps no other.
    private void carryOut(GatedPod pod, Verdict verdict) {
        try {
            switch (verdict) {
                case Verdict.Wait(var notice) -> tell(pod, notice);
                case Verdict.Open(var hostnames, var result, var notice) -> {
                    if (cluster.open(pod, hostnames)) {
                        metrics.opened(result);
                        tell(pod, notice);
                    }
                }
            }
        } catch (DriverException.BackendUnavailable silent) {
            throw silent;
        } catch (DriverException refused) {
            LOG.warn("pod {}/{} waits on: {}", pod.namespace(), pod.name(), refused.getMessage());
        }
    }

    private void tell(GatedPod pod, WarmingCluster.Notice notice) {
        boolean isNew = Optional.ofNullable(told.get(pod.uid()))
                .filter(last ->
                        last.notice().equals(notice) && last.when().plus(AGAIN).isAfter(clock.instant()))
                .isEmpty();
        if (isNew) {
            cluster.tell(pod, notice);
            told.put(pod.uid(), new Told(notice, clock.instant()));
        }
    }
}

package dev.siphon.controller.warm;

import dev.siphon.controller.dataset.Attempts;
import dev.siphon.controller.warm.Replica.Place;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Shared;
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
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
    private final ReplicaProgress progress;
    private final Orders orders;
    private final Ahead ahead;
    private final Reading reading;
    private final Attempts attempts = new Attempts();
    private final ScheduledExecutorService worker = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("dataset-warming").factory());

    private List<ClusterNode> nodes = List.of();
    private Instant nodesSeen = Instant.EPOCH;

    /// How long it took to list what there is, in the last look; zero if that failed.
    private Duration listing = Duration.ZERO;

    /// Why not all of the last look came to something.
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
    /// @param progress gets how far replicas are
    public Warming(
            WarmingCluster cluster,
            GateSettings settings,
            Supplier<Grants> grants,
            BiFunction<DatasetReplica.Question, DatasetReplica.Order, DatasetAccess.Answer> answers,
            WarmingMetrics metrics,
            ReplicaProgress progress,
            InstantSource clock) {
        this.progress = progress;
        this.cluster = cluster;
        this.settings = settings;
        this.grants = grants;
        this.clock = clock;
        this.metrics = metrics;
        this.orders = new Orders(cluster, answers);
        this.ahead = new Ahead(cluster, clock);
        this.reading = new Reading(cluster, clock);
    }

    /// Begins to look.
    public Warming start(BackgroundTasks tasks) {
        worker.execute(() -> keep(tasks));
        return this;
    }

    @Override
    public void close() {
        worker.shutdownNow();
        orders.close();
    }

    /// Throws nothing, since nobody would look again.
    private void keep(BackgroundTasks tasks) {
        listing = Duration.ZERO;
        try {
            var _ = look();
            trouble = Optional.empty();
        } catch (DriverException notNow) {
            Optional<String> why = Optional.ofNullable(notNow.getMessage());
            if (!why.equals(trouble)) {
                LOG.warn("not all pods at the gate, or replicas, could be seen to: {}", notNow.getMessage());
            }
            trouble = why;
        } catch (RuntimeException | Error unforeseen) {
            tasks.failed("dataset-warming", unforeseen);
        }
        Duration pause = Collections.max(List.of(PAUSE, listing.multipliedBy(PAUSES)));
        try {
            var _ = worker.schedule(() -> keep(tasks), pause.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException _) {
            // the process ends
        }
    }

    /// Looks once. What got no answer about one object keeps no other, and is thrown at the end.
    ///
    /// @return how long it took to list what there is
    /// @throws DriverException if anything of it cannot be known now, or got no answer
    public Duration look() {
        Instant begun = clock.instant();
        List<GatedPod> gated = cluster.gated(begun);
        List<Warmup> warmups = cluster.warmups();
        List<Replica> replicas = cluster.replicas();
        metrics.waiting(gated.size());
        if (gated.isEmpty() && warmups.isEmpty() && replicas.isEmpty()) {
            asking = Set.of();
            told.clear();
            progress.seen(replicas, Map.of());
            listing = Duration.between(begun, clock.instant());
            return listing;
        }
        see(gated);
        listing = Duration.between(begun, clock.instant());
        Map<String, Shared> declared = grants.get().datasets();
        Reading.Found found = reading.all(gated, declared);
        progress.seen(replicas, found.namespaces());
        Gates gates = new Gates(clock.instant(), settings, nodes, replicas);
        Set<Place> wanted = new HashSet<>();
        Map<GatedPod, Verdict> verdicts = new HashMap<>();
        for (Map.Entry<Together, List<GatedPod>> group : groups(found.reads(), verdicts)) {
            Gates.Decision decision =
                    gates.decide(group.getValue(), group.getKey().datasets());
            wanted.addAll(decision.wanted());
            verdicts.putAll(decision.verdicts());
        }
        if (found.reads().containsValue(new Reading.Read.Unknown())) {
            // what was wanted before, as by whoever led then, may be for a pod of which that is to be found out
            replicas.stream()
                    .filter(replica -> replica.order().wanted())
                    .forEach(replica -> wanted.add(replica.place()));
        }
        Optional<DriverException.BackendUnavailable> notReported =
                ahead.keep(warmups, declared.keySet(), nodes, replicas, wanted);
        Optional<DriverException.BackendUnavailable> notOrdered = orders.keep(
                wanted,
                replicas,
                declared,
                nodes.stream().map(ClusterNode::name).collect(Collectors.toSet()));
        Optional<DriverException.BackendUnavailable> notCarriedOut = attempts.take(verdicts.entrySet().stream()
                .sorted(Map.Entry.comparingByKey(Comparator.comparing(GatedPod::since)))
                .map(each -> step(each.getKey(), each.getValue()))
                .toList());
        Optional<DriverException.BackendUnavailable> silent = Stream.of(
                        found.silent(), notReported, notOrdered, notCarriedOut)
                .flatMap(Optional::stream)
                .findFirst();
        if (silent.isPresent()) {
            throw silent.get();
        }
        return listing;
    }

    private void see(List<GatedPod> gated) {
        Set<Asking> before = asking;
        asking = gated.stream().map(pod -> new Asking(pod.uid(), pod.needs())).collect(Collectors.toSet());
        told.keySet().retainAll(gated.stream().map(GatedPod::uid).collect(Collectors.toSet()));
        if (!before.containsAll(asking) || nodesSeen.plus(NODES_AGE).isBefore(clock.instant())) {
            nodes = cluster.nodes();
            nodesSeen = clock.instant();
        }
    }

    /// Pods that are warmed for together: of one group, with the same datasets.
    private record Together(String group, Set<String> datasets) {}

    /// @param verdicts gets those of pods that are in no group, since there is nothing to wait for
    private Collection<Map.Entry<Together, List<GatedPod>>> groups(
            Map<GatedPod, Reading.Read> reads, Map<GatedPod, Verdict> verdicts) {
        Map<Together, List<GatedPod>> groups = new HashMap<>();
        reads.forEach((pod, read) -> {
            switch (read) {
                case Reading.Read.Nothing(var why) -> verdicts.put(pod, new Verdict.Open(List.of(), "nothing", why));
                case Reading.Read.Cannot(var why) -> verdicts.put(pod, new Verdict.Wait(why));
                case Reading.Read.Unknown _ -> {
                    if (clock.instant().isAfter(settings.end(pod))) {
                        verdicts.put(pod, unknown(pod));
                    }
                }
                case Reading.Read.All(var datasets) ->
                    groups.computeIfAbsent(
                                    new Together(pod.namespace() + "/" + pod.group(), datasets), _ -> new ArrayList<>())
                            .add(pod);
            }
        });
        return groups.entrySet();
    }

    /// Nobody waits for ever, also if the API server never says what a PVC is.
    private Verdict unknown(GatedPod pod) {
        return new Verdict.Open(
                List.of(),
                "late",
                new WarmingCluster.Notice(
                        true,
                        "DatasetNotWarm",
                        "which datasets the pod's PVCs show could not be found out within "
                                + settings.patience(pod).toSeconds() + " s, so it is let go"));
    }

    /// What cannot be done to one pod keeps no other.
    private Attempts.Step step(GatedPod pod, Verdict verdict) {
        return new Attempts.Step(
                pod.uid(),
                () -> carryOut(pod, verdict),
                refused -> LOG.warn("pod {}/{} waits on: {}", pod.namespace(), pod.name(), refused.getMessage()));
    }

    private void carryOut(GatedPod pod, Verdict verdict) {
        switch (verdict) {
            case Verdict.Wait(var notice) -> tell(pod, notice);
            case Verdict.Open(var hostnames, var result, var notice) -> {
                if (cluster.open(pod, hostnames)) {
                    metrics.opened(result);
                    tell(pod, notice);
                }
            }
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

package dev.siphon.controller.warm;

import dev.siphon.controller.dataset.PerObjectRetries;
import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reconciles gated pods and warmups, after every change and every second: orders replicas from nodes, and opens
/// gates.
///
/// Watches supply its input, and a worker what ResourceClaims request, see [WarmupCluster#gated]. Opening a gate
/// costs one update and one event, plus one event if the pod had to wait. [DataConditions] says how it stands. Reading
/// the state takes at most a fifth of
/// the time.
public final class WarmupController implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WarmupController.class);

    /// A pod's maximum wait expires without a change that the watches see.
    private static final Duration TICK = Duration.ofSeconds(1);

    /// Minimum pause between two rounds, so that simultaneous changes are handled together.
    private static final Duration PAUSE = Duration.ofMillis(50);

    /// A pause lasts at least this many times the last read of the state.
    private static final int PAUSES = 4;

    /// When to repeat an event: the API server forgets events after an hour.
    private static final Duration AGAIN = Duration.ofMinutes(20);

    private final WarmupCluster cluster;
    private final GateSettings settings;
    private final Supplier<Grants> grants;
    private final InstantSource clock;
    private final GateMetrics metrics;
    private final ReplicaProgress progress;
    private final ReplicaOrderWriter orderWriter;
    private final TurnReconciler turns;
    private final WarmupReconciler warmupReconciler;
    private final AdmissionReconciler admissions;
    private final GatedDatasets datasets;
    private final DataConditions conditions;
    private final PerObjectRetries opening = new PerObjectRetries();
    private final PerObjectRetries telling = new PerObjectRetries();
    private final ScheduledExecutorService worker = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("dataset-warming").factory());

    private final AtomicBoolean awaited = new AtomicBoolean();
    private volatile List<BackgroundTasks.Task> watches = List.of();

    /// How long the last round took to read the state.
    private Duration reading = Duration.ZERO;

    /// Earliest start of the next round ([System#nanoTime]).
    private volatile long next = System.nanoTime();

    /// The failure of the last round, if any.
    private Optional<String> trouble = Optional.empty();

    /// The last event of each pod, by pod uid.
    private final Map<String, Told> told = new ConcurrentHashMap<>();

    private record Told(WarmupCluster.Notice notice, Instant when) {}

    /// @param grants the existing datasets and their readers
    /// @param answers answers a node's question about an order
    /// @param progress receives the replicas' progress
    /// @param clock the clock of the pods' and replicas' timestamps
    public WarmupController(
            WarmupCluster cluster,
            GateSettings settings,
            Supplier<Grants> grants,
            BiFunction<DatasetReplica.Question, DatasetReplica.Order, DatasetAccess.Answer> answers,
            GateMetrics metrics,
            ReplicaProgress progress,
            InstantSource clock) {
        this.progress = progress;
        this.cluster = cluster;
        this.settings = settings;
        this.grants = grants;
        this.clock = clock;
        this.metrics = metrics;
        this.orderWriter = new ReplicaOrderWriter(cluster, answers);
        this.turns = new TurnReconciler(cluster, settings.fillsInCluster(), metrics);
        this.warmupReconciler = new WarmupReconciler(cluster, clock);
        this.admissions = new AdmissionReconciler(cluster.queue(), cluster, settings);
        this.datasets = new GatedDatasets(cluster);
        this.conditions = new DataConditions(
                cluster.conditions(), settings, () -> grants.get().datasets(), clock);
    }

    /// Starts reconciling.
    public WarmupController start(BackgroundTasks tasks) {
        Runnable look = () -> wake(tasks);
        watches = Stream.concat(cluster.queue().follow(tasks, look).stream(), cluster.follow(tasks, look).stream())
                .toList();
        conditions.start(tasks);
        var _ = worker.scheduleWithFixedDelay(look, TICK.toMillis(), TICK.toMillis(), TimeUnit.MILLISECONDS);
        return this;
    }

    @Override
    public void close() {
        watches.forEach(BackgroundTasks.Task::close);
        conditions.close();
        worker.shutdownNow();
        orderWriter.close();
    }

    private void wake(BackgroundTasks tasks) {
        if (awaited.compareAndSet(false, true)) {
            try {
                var _ = worker.schedule(() -> keep(tasks), Math.max(0, next - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException _) {
                // the process ends
            }
        }
    }

    /// Runs a round. Throws nothing, because an exception would end the rounds.
    private void keep(BackgroundTasks tasks) {
        awaited.set(false); // later changes trigger the next round
        reading = Duration.ZERO;
        try {
            reconcile();
            trouble = Optional.empty();
        } catch (DriverException notNow) {
            Optional<String> why = Optional.ofNullable(notNow.getMessage());
            if (!why.equals(trouble)) {
                LOG.warn("some pods at the gate, or replicas, could not be handled: {}", notNow.getMessage());
            }
            trouble = why;
        } catch (RuntimeException | Error unforeseen) {
            tasks.failed("dataset-warming", unforeseen);
        }
        Duration pause = Collections.max(List.of(PAUSE, reading.multipliedBy(PAUSES)));
        next = System.nanoTime() + pause.toNanos();
    }

    /// Runs one round. A failure for one object does not block the others; it is thrown at the end.
    ///
    /// @throws DriverException if some state could not be read, or some request failed
    public void reconcile() {
        long begun = System.nanoTime();
        List<GatedPod> gated = cluster.gated(clock.instant());
        List<Warmup> warmups = cluster.warmups();
        List<OrderedReplica> replicas = cluster.replicas();
        metrics.waiting(gated.size());
        told.keySet().retainAll(gated.stream().map(GatedPod::uid).collect(Collectors.toSet()));
        if (gated.isEmpty()
                && warmups.isEmpty()
                && replicas.isEmpty()
                && settings.fillsInCluster() == 0
                && !cluster.queue().isThere()) {
            progress.seen(replicas, Map.of());
            conditions.seen(new DataConditions.GateRound(Map.of(), Map.of(), Map.of(), replicas, Optional.empty()));
            return;
        }
        List<ClusterNode> nodes = cluster.nodes();
        reading = Duration.ofNanos(System.nanoTime() - begun);
        Map<String, Shared> declared = grants.get().datasets();
        GatedDatasets.GatedReads found = datasets.all(gated, declared);
        ObservedGates is = new ObservedGates(clock.instant(), nodes, replicas, declared, found.reads());
        progress.seen(is.current(), found.namespaces());
        GateNodes.Decision decision = new GateNodes(is, settings).decide();
        Set<DatasetOnNode> awaited = new HashSet<>(decision.wanted());
        AdmissionReconciler.Round checked = admissions.decide(is, awaited);
        Set<DatasetOnNode> wanted = new HashSet<>(awaited);
        Optional<DriverException.BackendUnavailable> notReported =
                warmupReconciler.reconcile(warmups, declared.keySet(), nodes, is.current(), wanted);
        Optional<List<PodConditions.PodOnNode>> pods = pods(nodes, declared);
        Optional<Set<DatasetOnNode>> used = settings.fillsInCluster() == 0
                ? Optional.of(Set.of())
                : pods.map(all -> DataConditions.used(all, declared));
        List<OrderChange> changes = OrderChange.decide(is, wanted, used);
        Optional<DriverException.BackendUnavailable> notOrdered = orderWriter.take(changes, replicas);
        Optional<DriverException.BackendUnavailable> notTurned =
                turns.reconcile(OrderChange.staying(is.current(), changes), awaited, is.now());
        // open gates first; events can wait
        Map<GatedPod, WarmupCluster.Notice> notices = new ConcurrentHashMap<>();
        Optional<DriverException.BackendUnavailable> notOpened =
                opening.take(steps(decision.verdicts(), (pod, verdict) -> carryOut(pod, verdict, notices)));
        conditions.seen(new DataConditions.GateRound(found.reads(), decision.verdicts(), notices, is.current(), pods));
        Optional<DriverException.BackendUnavailable> notAnswered = admissions.write(checked);
        Optional<DriverException.BackendUnavailable> notTold = telling.take(steps(notices, this::report));
        Optional<DriverException.BackendUnavailable> silent = Stream.of(
                        found.silent(), notReported, notOrdered, notTurned, notOpened, notAnswered, notTold)
                .flatMap(Optional::stream)
                .findFirst();
        if (silent.isPresent()) {
            throw silent.get();
        }
    }

    /// Returns one independently retried step per pod, longest wait first.
    private static <T> List<PerObjectRetries.Step> steps(Map<GatedPod, T> of, BiConsumer<GatedPod, T> act) {
        return of.entrySet().stream()
                .sorted(Map.Entry.comparingByKey(Comparator.comparing(GatedPod::since)))
                .map(each -> new PerObjectRetries.Step(
                        each.getKey().uid(),
                        each.getKey().version(),
                        () -> act.accept(each.getKey(), each.getValue()),
                        refused -> LOG.warn(
                                "pod {}/{} still waits: {}",
                                each.getKey().namespace(),
                                each.getKey().name(),
                                refused.getMessage())))
                .toList();
    }

    /// Returns the pods on nodes that use datasets, if turns need that; empty while they are not known: gates open all
    /// the same.
    private Optional<List<PodConditions.PodOnNode>> pods(List<ClusterNode> nodes, Map<String, Shared> declared) {
        if (settings.fillsInCluster() == 0) {
            return Optional.empty();
        }
        try {
            return Optional.of(DataConditions.pods(cluster.conditions(), nodes, declared));
        } catch (DriverException notNow) {
            LOG.info("where pods use datasets is not known now: {}", notNow.getMessage());
            return Optional.empty();
        }
    }

    /// @param notices receives the events for the pods' users
    private void carryOut(GatedPod pod, GateVerdict verdict, Map<GatedPod, WarmupCluster.Notice> notices) {
        switch (verdict) {
            case GateVerdict.Undecided _ -> {}
            case GateVerdict.Wait(var notice) -> notices.put(pod, notice);
            case GateVerdict.Open(var placement, var result, var notice) -> {
                if (open(pod, placement, notices)) {
                    metrics.opened(result, Duration.between(pod.since(), clock.instant()));
                    notices.put(pod, notice);
                }
            }
        }
    }

    private boolean open(GatedPod pod, PodPlacement placement, Map<GatedPod, WarmupCluster.Notice> notices) {
        try {
            return cluster.open(pod, placement);
        } catch (DriverException refused) {
            notices.put(
                    pod,
                    new WarmupCluster.Notice(
                            true,
                            "GateNotOpened",
                            "the gate could not be opened: " + refused.getMessage()
                                    + ". If the pod is nearly as large as etcd allows (1.5 MiB), it cannot be changed:"
                                    + " create it again with less in it. A policy or a webhook of the cluster may also"
                                    + " refuse the change: ask its administrator"));
            // any refusal is retried with growing delays, as silence is
            throw refused instanceof DriverException.BackendUnavailable silent
                    ? silent
                    : new DriverException.BackendUnavailable(String.valueOf(refused.getMessage()), refused);
        }
    }

    private void report(GatedPod pod, WarmupCluster.Notice notice) {
        boolean isNew = Optional.ofNullable(told.get(pod.uid()))
                .filter(last ->
                        last.notice().equals(notice) && last.when().plus(AGAIN).isAfter(clock.instant()))
                .isEmpty();
        if (isNew) {
            cluster.report(pod, notice);
            told.put(pod.uid(), new Told(notice, clock.instant()));
        }
    }
}

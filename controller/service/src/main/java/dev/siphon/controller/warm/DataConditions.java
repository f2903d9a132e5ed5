package dev.siphon.controller.warm;

import dev.siphon.controller.warm.GatedDatasets.ReadDecision;
import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.controller.warm.PodConditions.PodIdentity;
import dev.siphon.controller.warm.PodConditions.PodOnNode;
import dev.siphon.controller.warm.WarmupCluster.Notice;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keeps the condition [DataReadiness#CONDITION] of pods in step with the gate and the replicas. It writes on its own
/// thread, so that the gate never waits for it.
///
/// A condition is written only if its sentence has changed, at most every [#PAUSE] for each pod, and at most
/// [#MOST_AT_ONCE] times per [#TICK] for all pods. It is kept nowhere else: the next leader reads its status from the
/// pods.
final class DataConditions implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DataConditions.class);

    static final Duration PAUSE = Duration.ofSeconds(10);
    static final int MOST_AT_ONCE = 10;
    private static final Duration TICK = Duration.ofSeconds(1);

    /// The longest pause between rounds while every write fails.
    private static final Duration LONGEST_TICK = Duration.ofMinutes(1);

    /// Ends a round after this many failures in a row: each may have taken 5 s.
    private static final int MOST_FAILURES = 3;

    /// How long the last sentence about a pod that passed the gate may wait for its turn.
    private static final Duration PASSED = Duration.ofMinutes(5);

    private final PodConditions pods;
    private final GateSettings settings;
    private final Supplier<Map<String, Shared>> declared;
    private final InstantSource clock;

    /// The last round of the gate, without the pods that it opened.
    private volatile Optional<GateRound> gate = Optional.empty();

    /// The last sentences about pods that passed the gate, until they are written.
    private final Map<PodIdentity, Wanted> passed = new ConcurrentHashMap<>();
    private volatile List<BackgroundTasks.Task> running = List.of();

    // of the own thread
    private final Map<PodIdentity, Attempt> attempts = new HashMap<>();
    private Duration tick = TICK;
    private boolean isFailing;

    /// The result of a round of the gate.
    ///
    /// @param notices what was carried out: the events of pods with a verdict
    /// @param replicas all ordered replicas
    /// @param pods the pods on nodes, if that round has asked for them
    record GateRound(
            Map<GatedPod, ReadDecision> reads,
            Map<GatedPod, GateVerdict> verdicts,
            Map<GatedPod, Notice> notices,
            List<OrderedReplica> replicas,
            Optional<List<PodOnNode>> pods) {
        private boolean hasOpened(GatedPod pod) {
            return verdicts.get(pod) instanceof GateVerdict.Open
                    && notice(pod)
                            .filter(notice -> !DataReadiness.CLOSED.contains(notice.reason()))
                            .isPresent();
        }

        private Optional<Notice> notice(GatedPod pod) {
            return Optional.ofNullable(notices.get(pod));
        }
    }

    /// @param since when its status became so; empty if it was so before
    /// @param at when that was decided
    private record Wanted(DataReadiness readiness, Optional<Instant> since, Instant at) {}

    /// The last attempt to write a pod's condition.
    private record Attempt(DataReadiness readiness, Instant when, boolean isWritten) {}

    /// @param declared the declared datasets, by name
    DataConditions(
            PodConditions pods, GateSettings settings, Supplier<Map<String, Shared>> declared, InstantSource clock) {
        this.pods = pods;
        this.settings = settings;
        this.declared = declared;
        this.clock = clock;
    }

    /// Starts writing.
    void start(BackgroundTasks tasks) {
        running = List.of(tasks.every("data-conditions", TICK, () -> tick, this::write));
    }

    @Override
    public void close() {
        running.forEach(BackgroundTasks.Task::close);
    }

    /// Takes over a round of the gate. Makes no calls.
    void seen(GateRound round) {
        Instant now = clock.instant();
        passed.values().removeIf(wanted -> wanted.at().plus(PASSED).isBefore(now));
        Map<GatedPod, ReadDecision> waiting = new LinkedHashMap<>();
        round.reads().forEach((pod, read) -> {
            if (!round.hasOpened(pod)) {
                waiting.put(pod, read);
            } else if (read instanceof ReadDecision.All) {
                DataReadiness readiness = DataReadiness.passed(round.notice(pod).orElseThrow());
                Instant since = readiness.isReady() ? now : pod.since();
                passed.put(PodIdentity.of(pod), new Wanted(readiness, Optional.of(since), now));
            }
        });
        gate = Optional.of(new GateRound(waiting, round.verdicts(), round.notices(), round.replicas(), round.pods()));
    }

    /// Runs one round. Does nothing before the gate's first: the replicas are not known then.
    void write() {
        gate.ifPresent(round -> write(round, clock.instant()));
    }

    private void write(GateRound round, Instant now) {
        Map<PodIdentity, Wanted> wanted = new LinkedHashMap<>(passed);
        boolean isReadable = true;
        try {
            wanted.putAll(onNodes(round, now));
        } catch (DriverException silent) {
            isReadable = false;
            failing(silent);
        }
        Map<String, List<OrderedReplica>> replicas = round.replicas().stream()
                .collect(Collectors.groupingBy(replica -> replica.order().dataset()));
        round.reads()
                .forEach((pod, read) -> atGate(pod, read, round, replicas)
                        .ifPresent(readiness ->
                                wanted.put(PodIdentity.of(pod), new Wanted(readiness, Optional.of(pod.since()), now))));
        attempts.entrySet()
                .removeIf(each -> !wanted.containsKey(each.getKey())
                        && each.getValue().when().plus(PAUSE).isBefore(now));
        boolean isGood = write(wanted, now) && isReadable;
        tick = isGood ? TICK : Collections.min(List.of(tick.multipliedBy(2), LONGEST_TICK));
    }

    /// @param replicas by dataset
    private Optional<DataReadiness> atGate(
            GatedPod pod, ReadDecision read, GateRound round, Map<String, List<OrderedReplica>> replicas) {
        return switch (read) {
            case ReadDecision.Cannot(var why) ->
                Optional.of(DataReadiness.closed(GateDecision.closed(why).message()));
            case ReadDecision.Unbound(var _, var why) ->
                Optional.of(DataReadiness.closed(GateDecision.closed(why).message()));
            case ReadDecision.All(var datasets) ->
                Optional.of(round.notice(pod)
                        .filter(each -> DataReadiness.CLOSED.contains(each.reason()))
                        .map(closed -> DataReadiness.closed(closed.message()))
                        .orElseGet(() -> waiting(pod, datasets, replicas)));
            case ReadDecision.Pending(var datasets) -> Optional.of(waiting(pod, datasets, replicas));
            case ReadDecision.Nothing _, ReadDecision.Unknown _ -> Optional.empty();
        };
    }

    private DataReadiness waiting(GatedPod pod, Set<String> datasets, Map<String, List<OrderedReplica>> replicas) {
        return DataReadiness.atGate(
                datasets,
                datasets.stream()
                        .flatMap(dataset -> replicas.getOrDefault(dataset, List.of()).stream())
                        .toList(),
                Optional.of(settings.end(pod).toString()));
    }

    /// Returns the datasets' names by their volumes; of several names, the first.
    private static Map<VolumeId.DatasetVolume, String> names(Map<String, Shared> declared) {
        return declared.entrySet().stream()
                .collect(Collectors.toMap(
                        each -> each.getValue().volume(),
                        Map.Entry::getKey,
                        (one, other) -> one.compareTo(other) < 0 ? one : other));
    }

    /// Returns the pods on nodes that use datasets.
    static List<PodOnNode> pods(PodConditions pods, Collection<ClusterNode> nodes, Map<String, Shared> declared) {
        return pods.onNodes(
                nodes.stream().map(ClusterNode::name).collect(Collectors.toSet()),
                names(declared).keySet());
    }

    /// Returns where these pods use datasets.
    static Set<DatasetOnNode> used(List<PodOnNode> pods, Map<String, Shared> declared) {
        Map<VolumeId.DatasetVolume, String> names = names(declared);
        return pods.stream()
                .flatMap(pod -> pod.datasets().stream()
                        .flatMap(volume -> Optional.ofNullable(names.get(volume)).stream())
                        .map(dataset -> new DatasetOnNode(dataset, pod.node())))
                .collect(Collectors.toSet());
    }

    private Map<PodIdentity, Wanted> onNodes(GateRound round, Instant now) {
        Map<VolumeId.DatasetVolume, String> names = names(declared.get());
        Map<String, List<OrderedReplica>> byNode = round.replicas().stream()
                .collect(Collectors.groupingBy(replica -> replica.order().node()));
        Set<String> unfinished = byNode.entrySet().stream()
                .filter(each -> !each.getValue().stream().allMatch(OrderedReplica::isLocal))
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        Map<PodIdentity, Wanted> wanted = new LinkedHashMap<>();
        List<PodOnNode> some = round.pods()
                .map(all -> all.stream()
                        .filter(pod -> pod.isReady().isPresent() || unfinished.contains(pod.node()))
                        .toList())
                .orElseGet(() -> pods.onNodes(unfinished, names.keySet()));
        for (PodOnNode pod : some) {
            Set<String> datasets = pod.datasets().stream()
                    .flatMap(volume -> Optional.ofNullable(names.get(volume)).stream())
                    .collect(Collectors.toSet());
            List<OrderedReplica> here = byNode.getOrDefault(pod.node(), List.of());
            DataReadiness readiness = DataReadiness.onNode(pod.node(), datasets, here);
            boolean isSame = pod.isReady().equals(Optional.of(readiness.isReady()));
            boolean isFilled = here.stream()
                    .anyMatch(replica -> datasets.contains(replica.order().dataset()) && !replica.isLocal());
            boolean isFollowed = pod.isReady().isPresent() && !(isSame && isFinal(pod.pod(), readiness));
            if (isFilled || isFollowed || passed.containsKey(pod.pod())) {
                wanted.put(pod.pod(), new Wanted(readiness, isSame ? Optional.empty() : Optional.of(now), now));
            }
        }
        return wanted;
    }

    /// Whether a pod was ready before this leader: its sentence need not be written again.
    private boolean isFinal(PodIdentity pod, DataReadiness readiness) {
        return readiness.isReady() && !attempts.containsKey(pod);
    }

    /// @return false if there were only failures
    private boolean write(Map<PodIdentity, Wanted> wanted, Instant now) {
        List<Map.Entry<PodIdentity, Wanted>> due = wanted.entrySet().stream()
                .filter(each -> isDue(each.getKey(), each.getValue(), now))
                .sorted(Comparator.comparing((Map.Entry<PodIdentity, Wanted> each) ->
                                isSameReason(each.getKey(), each.getValue().readiness()))
                        .thenComparing(each -> last(each.getKey())))
                .limit(MOST_AT_ONCE)
                .toList();
        int written = 0;
        int failures = 0;
        for (Map.Entry<PodIdentity, Wanted> each : due) {
            boolean isWritten = write(each.getKey(), each.getValue(), now);
            written += isWritten ? 1 : 0;
            failures = isWritten ? 0 : failures + 1;
            if (failures >= MOST_FAILURES) {
                break;
            }
        }
        return due.isEmpty() || written > 0;
    }

    private boolean isDue(PodIdentity pod, Wanted wanted, Instant now) {
        return Optional.ofNullable(attempts.get(pod))
                .map(last -> !(last.isWritten() && last.readiness().equals(wanted.readiness()))
                        && !last.when().plus(PAUSE).isAfter(now))
                .orElse(true);
    }

    /// Whether only the sentence has changed: that can wait for the others.
    private boolean isSameReason(PodIdentity pod, DataReadiness readiness) {
        return Optional.ofNullable(attempts.get(pod))
                .filter(last -> last.readiness().reason() == readiness.reason())
                .isPresent();
    }

    private Instant last(PodIdentity pod) {
        return Optional.ofNullable(attempts.get(pod)).map(Attempt::when).orElse(Instant.EPOCH);
    }

    private boolean write(PodIdentity pod, Wanted wanted, Instant now) {
        boolean isWritten = true;
        try {
            boolean _ = pods.write(pod, wanted.readiness(), wanted.since());
            passed.remove(pod);
            isFailing = false;
        } catch (DriverException failed) {
            isWritten = false;
            failing(failed);
        }
        attempts.put(pod, new Attempt(wanted.readiness(), now, isWritten));
        return isWritten;
    }

    /// Logs the first of several failures.
    private void failing(DriverException why) {
        if (!isFailing) {
            LOG.warn("the condition {} of a pod is out of date: {}", DataReadiness.CONDITION, why.getMessage());
        }
        isFailing = true;
    }
}

package dev.siphon.controller.warm;

import static dev.siphon.controller.warm.WarmWorld.NOW;
import static dev.siphon.controller.warm.WarmWorld.X;
import static dev.siphon.controller.warm.WarmWorld.anywhere;
import static dev.siphon.controller.warm.WarmWorld.node;
import static dev.siphon.controller.warm.WarmWorld.pod;

import dev.siphon.controller.kubernetes.KubernetesAccess;
import dev.siphon.controller.kubernetes.KubernetesAdapter;
import dev.siphon.controller.warm.DataCheck.Parameters;
import dev.siphon.controller.warm.DataCheck.Settings;
import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.controller.warm.QueuedWorkload.CheckState;
import dev.siphon.controller.warm.QueuedWorkload.Phase;
import dev.siphon.controller.warm.QueuedWorkload.PodSet;
import dev.siphon.controller.warm.QueuedWorkload.Release;
import dev.siphon.controller.warm.QueuedWorkload.State;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;

/// Rounds of an [AdmissionReconciler], with a Kueue that notes what it is told.
abstract class AdmissionRounds {
    private static final GateSettings SETTINGS = new GateSettings(Duration.ofMinutes(10), 2);

    private final KubernetesAdapter nobody = KubernetesAdapter.open(
            new KubernetesAccess("siphon", Optional.empty()), "cephfs.siphon.dev", () -> Duration.ofSeconds(1));
    final Queue queue = new Queue();
    private final AdmissionReconciler reconciler = new AdmissionReconciler(queue, nobody.warming(), SETTINGS);

    @AfterEach
    void close() {
        nobody.close();
    }

    /// Kueue, and what it was told.
    static final class Queue implements AdmissionQueue {
        Settings settings = Settings.DEFAULT;
        Parameters parameters = new Parameters.Valid(settings);
        List<QueuedWorkload> workloads = List.of();
        Map<String, DataCheck.Flavor> flavors = Map.of();
        List<DataCheck> others = List.of();
        boolean isSilent;
        final List<String> told = new ArrayList<>();

        void set(Settings changed) {
            settings = changed;
            parameters = new Parameters.Valid(settings);
        }

        @Override
        public List<BackgroundTasks.Task> follow(BackgroundTasks tasks, Runnable changed) {
            return List.of();
        }

        @Override
        public boolean isThere() {
            return true;
        }

        @Override
        public Queued queued() {
            if (isSilent) {
                throw new DriverException.BackendUnavailable("no answer");
            }
            List<DataCheck> checks = new ArrayList<>(List.of(check("check", parameters)));
            checks.addAll(others);
            return new Queued(workloads, checks, flavors);
        }

        static DataCheck check(String name, Parameters parameters) {
            return new DataCheck(
                    name, 1, parameters, Optional.of(new DataCheck.Active(true, "The admission check is active")));
        }

        @Override
        public void activate(DataCheck check, DataCheck.Active active) {
            told.add(active.toString());
        }

        @Override
        public void answer(QueuedWorkload workload, String check, CheckAnswer.Given answer) {
            String which = check.equals("check") ? "" : "/" + check;
            told.add(workload.name() + which + " " + answer.state() + ": " + answer.message());
        }

        @Override
        public void release(QueuedWorkload workload, Instant since, Set<String> checks) {
            told.add(workload.name() + " released, waiting since " + since + " for " + new TreeSet<>(checks));
        }

        @Override
        public void resume(QueuedWorkload workload, boolean isLate) {
            told.add(workload.name() + (isLate ? " resumed, as its longest wait is over" : " resumed"));
        }
    }

    static QueuedWorkload workload(String name, Phase phase, int seconds, int pods) {
        GatedPod pod = pod(name, 2, anywhere());
        return new QueuedWorkload(
                "u1",
                name,
                "uid-" + name,
                "1",
                phase,
                NOW.minusSeconds(seconds),
                Optional.empty(),
                Optional.of("queue"),
                true,
                Map.of("check", new CheckState(State.PENDING, "", "")),
                Set.of(),
                List.of(new PodSet("main", pods, pod, Set.of("gpu"))));
    }

    static QueuedWorkload checked(QueuedWorkload before, Map<String, CheckState> checks) {
        return changed(before, before.release(), before.clusterQueue(), before.isReleasable(), checks, Set.of());
    }

    static QueuedWorkload changed(
            QueuedWorkload before,
            Optional<Release> release,
            Optional<String> clusterQueue,
            boolean isReleasable,
            Map<String, CheckState> checks,
            Set<String> forgotten) {
        return new QueuedWorkload(
                before.namespace(),
                before.name(),
                before.uid(),
                before.version(),
                before.phase(),
                before.since(),
                release,
                clusterQueue,
                isReleasable,
                checks,
                forgotten,
                before.podSets());
    }

    static QueuedWorkload reserved(String name) {
        return workload(name, Phase.RESERVED, 5, 1);
    }

    Set<String> round(int seconds, OrderedReplica... replicas) {
        ObservedGates is = new ObservedGates(
                NOW.plusSeconds(seconds),
                List.of(node("a", 8, 8), node("b", 8, 4), node("c", 8, 0)),
                List.of(replicas),
                WarmWorld.declared(X),
                Map.of());
        Set<DatasetOnNode> wanted = new TreeSet<>(Comparator.comparing(DatasetOnNode::node));
        var _ = reconciler.write(reconciler.decide(is, wanted));
        return wanted.stream().map(DatasetOnNode::node).collect(Collectors.toCollection(TreeSet::new));
    }
}

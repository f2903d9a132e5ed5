package dev.siphon.controller.dataset;

import dev.siphon.controller.volume.Clusters;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Records periodically at each dataset how many pods use it on which nodes; it writes only changes. It keeps no
/// state: the next leader compares with what is recorded.
///
/// Pods and volumes are watched, so a pass without changes sends no request to Kubernetes. Passes take at most a
/// twentieth of the time.
public final class DatasetUsageReporter implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DatasetUsageReporter.class);
    private static final Duration PAUSE = Duration.ofSeconds(15);

    /// Pause after a pass, as a multiple of the time that the pass took.
    private static final int PAUSES = 19;

    private final DatasetUsageCluster pods;
    private final Clusters clusters;
    private final Consumer<Map<String, Set<String>>> namespaces;
    private final PerObjectRetries reports = new PerObjectRetries();
    private volatile Optional<BackgroundTasks.Task> running = Optional.empty();
    private final PacedPasses passes = paced();

    /// @param namespaces receives the namespaces of the pods that use datasets, by dataset name
    public DatasetUsageReporter(
            DatasetUsageCluster pods, Clusters clusters, Consumer<Map<String, Set<String>>> namespaces) {
        this.namespaces = namespaces;
        this.pods = pods;
        this.clusters = clusters;
    }

    /// Starts periodic reconciliation.
    public DatasetUsageReporter start(BackgroundTasks tasks) {
        running = Optional.of(tasks.every("dataset-users", Duration.ZERO, passes::pause, this::reconcileAndLog));
        return this;
    }

    @Override
    public void close() {
        running.ifPresent(BackgroundTasks.Task::close);
    }

    private void reconcileAndLog() {
        passes.run(
                this::reconcile, why -> LOG.warn("cannot update which pods use datasets; the old list stays: {}", why));
    }

    static PacedPasses paced() {
        return new PacedPasses(PAUSE, PAUSES);
    }

    /// Runs one pass. Partial counts are not recorded.
    ///
    /// @throws DriverException if some input cannot be read now
    public void reconcile() {
        List<DatasetUsageCluster.RecordedUsage> declared = pods.declared();
        if (declared.isEmpty()) {
            namespaces.accept(Map.of());
            return;
        }
        Map<VolumeId.DatasetVolume, DatasetUsage.Count> counts = new HashMap<>();
        declared.forEach(known -> counts.put(volume(known), new DatasetUsage.Count()));
        pods.each(counts.keySet(), use -> count(counts, use.dataset()).add(use.node(), use.namespace()));
        Map<String, Set<String>> using = new HashMap<>();
        declared.forEach(known ->
                using.put(known.dataset().name(), count(counts, volume(known)).namespaces()));
        namespaces.accept(using);
        Optional<DriverException.BackendUnavailable> silent = reports.take(declared.stream()
                .map(known -> report(known, count(counts, volume(known)).sum()))
                .toList());
        if (silent.isPresent()) {
            throw silent.get();
        }
    }

    private VolumeId.DatasetVolume volume(DatasetUsageCluster.RecordedUsage known) {
        return known.dataset().volume(clusters.defaultCluster());
    }

    private static DatasetUsage.Count count(
            Map<VolumeId.DatasetVolume, DatasetUsage.Count> counts, VolumeId.DatasetVolume dataset) {
        return Optional.ofNullable(counts.get(dataset)).orElseThrow();
    }

    private PerObjectRetries.Step report(DatasetUsageCluster.RecordedUsage known, DatasetUsage now) {
        String name = known.dataset().name();
        return new PerObjectRetries.Step(
                name,
                now,
                () -> {
                    if (!known.written().equals(Optional.of(now))) {
                        pods.report(name, now);
                    }
                },
                refused ->
                        LOG.warn("the pods that use dataset {} are not written down: {}", name, refused.getMessage()));
    }
}

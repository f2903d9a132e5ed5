package dev.siphon.controller.dataset;

import dev.siphon.controller.volume.Clusters;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Writes down at each dataset how many pods use it on which nodes, again and again; only where that has changed.
/// It keeps nothing: whoever leads next compares with what is written.
///
/// Pods and volumes are watched, so a look that finds what it found before asks Kubernetes for nothing. Looks
/// take a twentieth of the time at most.
public final class DatasetUsageReporter implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DatasetUsageReporter.class);
    private static final Duration PAUSE = Duration.ofSeconds(15);

    /// Of all time, what is not spent looking.
    private static final int PAUSES = 19;

    private final DatasetUsageCluster pods;
    private final Clusters clusters;
    private final Consumer<Map<String, Set<String>>> namespaces;
    private final PerObjectRetries reports = new PerObjectRetries();
    private final ScheduledExecutorService worker = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("dataset-users").factory());

    /// Why the last look came to nothing.
    private Optional<String> trouble = Optional.empty();

    /// @param namespaces gets those of the pods that use datasets, by the datasets' names
    public DatasetUsageReporter(
            DatasetUsageCluster pods, Clusters clusters, Consumer<Map<String, Set<String>>> namespaces) {
        this.namespaces = namespaces;
        this.pods = pods;
        this.clusters = clusters;
    }

    /// Begins to look.
    public DatasetUsageReporter start(BackgroundTasks tasks) {
        worker.execute(() -> keep(tasks));
        return this;
    }

    @Override
    public void close() {
        worker.shutdownNow();
    }

    /// Throws nothing, since nobody would look again.
    private void keep(BackgroundTasks tasks) {
        long begun = System.nanoTime();
        try {
            reconcile();
            trouble = Optional.empty();
        } catch (DriverException notNow) {
            Optional<String> why = Optional.ofNullable(notNow.getMessage());
            if (!why.equals(trouble)) {
                LOG.warn("which pods use datasets stays as it was written down: {}", notNow.getMessage());
            }
            trouble = why;
        } catch (RuntimeException | Error unforeseen) {
            tasks.failed("dataset-users", unforeseen);
        }
        Duration pause = pause(Duration.ofNanos(System.nanoTime() - begun));
        try {
            var _ = worker.schedule(() -> keep(tasks), pause.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException _) {
            // the process ends
        }
    }

    /// @param taken by a look
    static Duration pause(Duration taken) {
        return Collections.max(List.of(PAUSE, taken.multipliedBy(PAUSES)));
    }

    /// Looks once. What was counted in part is not written down.
    ///
    /// @throws DriverException if anything of it cannot be known now
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
                () -> {
                    if (!known.written().equals(Optional.of(now))) {
                        pods.report(name, now);
                    }
                },
                refused -> LOG.warn("who uses dataset {} is not written down: {}", name, refused.getMessage()));
    }
}

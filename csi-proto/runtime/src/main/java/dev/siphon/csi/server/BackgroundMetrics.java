package dev.siphon.csi.server;

import dev.siphon.csi.BackgroundTasks;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;

/// Metrics of background tasks on `/metrics`.
public final class BackgroundMetrics {
    private BackgroundMetrics() {}

    /// Creates background tasks, and registers a counter of their failures.
    public static BackgroundTasks tasks(PrometheusRegistry registry) {
        BackgroundTasks tasks = new BackgroundTasks();
        CounterWithCallback.builder()
                .name("siphon_background_failures_total")
                .help("Unexpected exceptions in background tasks, by task; each task keeps running.")
                .labelNames("task")
                .callback(callback -> tasks.failures().forEach((name, count) -> callback.call(count, name)))
                .register(registry);
        return tasks;
    }
}

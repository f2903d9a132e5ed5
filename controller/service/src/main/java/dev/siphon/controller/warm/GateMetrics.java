package dev.siphon.controller.warm;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;

/// The metrics of gated pods.
public final class GateMetrics {
    private final Gauge waiting;
    private final Counter opened;

    public GateMetrics(PrometheusRegistry registry) {
        waiting = Gauge.builder()
                .name("siphon_gated_pods")
                .help("Pods that wait until their datasets are on disks of nodes")
                .register(registry);
        opened = Counter.builder()
                .name("siphon_gates_opened_total")
                .help("Gates opened, by result. warm: the datasets are where the pod may run. late: the pod"
                        + " waited long enough. failed: no node could fill them. unsuited: no node suits the"
                        + " pod. nothing: the pod reads no dataset.")
                .labelNames("result")
                .register(registry);
    }

    void waiting(int pods) {
        waiting.set(pods);
    }

    void opened(String result) {
        opened.labelValues(result).inc();
    }
}

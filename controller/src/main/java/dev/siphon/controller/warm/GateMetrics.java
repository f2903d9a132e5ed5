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
                .help("Pods that were let go: warm ones have their datasets where they may run, late ones had waited"
                        + " long enough, of failed ones no node could fill them, unsuited ones no node suits, and"
                        + " those of nothing read none")
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

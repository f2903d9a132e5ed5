package dev.siphon.controller.warm;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Unit;
import java.time.Duration;
import java.util.List;

/// The metrics of gated pods.
public final class GateMetrics {
    private static final List<String> RESULTS = List.of("warm", "late", "failed", "unsuited", "nothing");

    private final Gauge waiting;
    private final Gauge fills;
    private final Counter opened;
    private final Histogram waited;

    public GateMetrics(PrometheusRegistry registry) {
        waiting = Gauge.builder()
                .name("siphon_gated_pods")
                .help("Pods that wait until their datasets are on disks of nodes")
                .register(registry);
        fills = Gauge.builder()
                .name("siphon_fills")
                .help("Fills of replicas that nodes report to the controller. running: nodes copy. waiting: nodes wait"
                        + " for their turns, as the cluster has a limit.")
                .labelNames("state")
                .register(registry);
        fills(0, 0);
        opened = Counter.builder()
                .name("siphon_gates_opened_total")
                .help("Gates opened, by result. warm: the datasets are where the pod may run. late: the pod"
                        + " waited long enough. failed: no node could fill them. unsuited: no node suits the"
                        + " pod. nothing: the pod reads no dataset.")
                .labelNames("result")
                .register(registry);
        // from the start: an alert cannot see the increase of a series that appears with its first count
        RESULTS.forEach(opened::initLabelValues);
        waited = Histogram.builder()
                .name("siphon_gate_wait_seconds")
                .help("How long pods waited at the gate until it opened")
                .unit(Unit.SECONDS)
                .classicUpperBounds(1, 3, 10, 30, 60, 120, 300, 600, 1_800, 3_600)
                .classicOnly()
                .register(registry);
    }

    void waiting(int pods) {
        waiting.set(pods);
    }

    void fills(int running, int waiting) {
        fills.labelValues("running").set(running);
        fills.labelValues("waiting").set(waiting);
    }

    /// @param wait the time from the gate's beginning to hold the pod to its opening
    void opened(String result, Duration wait) {
        opened.labelValues(result).inc();
        waited.observe(Math.max(0, wait.toMillis() / 1e3)); // clocks may have been set back
    }
}

package dev.siphon.controller.ceph.call;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Unit;

/// What `/metrics` says about calls to Ceph.
public final class CephMetrics {
    private final Counter commands;
    private final Histogram seconds;
    private final Gauge inFlight;
    private final Counter drops;

    public CephMetrics(PrometheusRegistry registry) {
        commands = Counter.builder()
                .name("siphon_ceph_commands_total")
                .help("Calls to Ceph by cluster, daemon (mon, mgr, mds), command and result (ok, an errno, deadline)")
                .labelNames("cluster", "daemon", "command", "result")
                .register(registry);
        seconds = Histogram.builder()
                .name("siphon_ceph_command_seconds")
                .help("How long callers waited for calls to Ceph, in seconds")
                .unit(Unit.SECONDS)
                .labelNames("cluster", "daemon", "command")
                .classicUpperBounds(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)
                .classicOnly()
                .register(registry);
        inFlight = Gauge.builder()
                .name("siphon_ceph_calls_in_flight")
                .help("Native calls that have not returned, those whose callers have left included")
                .labelNames("cluster")
                .register(registry);
        drops = Counter.builder()
                .name("siphon_ceph_handle_drops_total")
                .help("Handles to a cluster given up because they stopped answering")
                .labelNames("cluster")
                .register(registry);
    }

    /// One call ended for its caller.
    ///
    /// @param result `ok`, the name of an errno, or `deadline`
    public void ended(String cluster, String daemon, String command, String result, long nanos) {
        RoundTrips.add(daemon);
        commands.labelValues(cluster, daemon, command, result).inc();
        seconds.labelValues(cluster, daemon, command).observe(nanos / 1e9);
    }

    /// A handle to `cluster` was dropped.
    public void dropped(String cluster) {
        drops.labelValues(cluster).inc();
    }

    /// Native calls to `cluster` began (1) or returned (-1).
    void inFlight(String cluster, int change) {
        inFlight.labelValues(cluster).inc(change);
    }
}

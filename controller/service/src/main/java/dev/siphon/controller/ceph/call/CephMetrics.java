package dev.siphon.controller.ceph.call;

import dev.siphon.csi.DriverException;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Unit;
import java.util.function.Function;
import java.util.function.Supplier;

/// The metrics of calls to Ceph.
public final class CephMetrics {
    private final Counter commands;
    private final Histogram seconds;
    private final Gauge inFlight;
    private final Counter drops;
    private final Gauge probes;

    public CephMetrics(PrometheusRegistry registry) {
        commands = Counter.builder()
                .name("siphon_ceph_commands_total")
                .help(
                        "Calls to Ceph by cluster, daemon (mon, mgr, mds), command and result (ok, an errno, deadline, unavailable)")
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
                .help("Native calls that have not returned, including those whose callers have left")
                .labelNames("cluster")
                .register(registry);
        drops = Counter.builder()
                .name("siphon_ceph_handle_drops_total")
                .help("Handles to a cluster that were dropped because they stopped answering")
                .labelNames("cluster")
                .register(registry);
        probes = Gauge.builder()
                .name("siphon_ceph_probes_in_flight")
                .help("Accounts whose directories the MDS has not given yet, which takes more than 2 s only if a client"
                        + " of the account does not answer; at most 64 in all clusters")
                .labelNames("cluster")
                .register(registry);
    }

    /// Runs one call and records its duration and outcome.
    ///
    /// @param result returns the outcome of a call that returned: `ok` or an errno
    public <T> T measure(String cluster, String daemon, String command, Function<T, String> result, Supplier<T> call) {
        long began = System.nanoTime();
        String outcome = "unavailable";
        RoundTrips.add(daemon);
        try {
            T value = call.get();
            outcome = result.apply(value);
            return value;
        } catch (DriverException.DeadlinePassed e) {
            outcome = "deadline";
            throw e;
        } finally {
            commands.labelValues(cluster, daemon, command, outcome).inc();
            seconds.labelValues(cluster, daemon, command).observe((System.nanoTime() - began) / 1e9);
        }
    }

    /// Counts a dropped handle to `cluster`.
    public void dropped(String cluster) {
        drops.labelValues(cluster).inc();
    }

    /// Records that a probe of an account's directory in `cluster` began (1) or ended (-1).
    public void probesInFlight(String cluster, int change) {
        probes.labelValues(cluster).inc(change);
    }

    /// Records that a native call to `cluster` began (1) or returned (-1).
    void inFlight(String cluster, int change) {
        inFlight.labelValues(cluster).inc(change);
    }
}

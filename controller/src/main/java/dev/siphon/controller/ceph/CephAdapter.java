package dev.siphon.controller.ceph;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.ceph.fs.CephFileSystems;
import dev.siphon.controller.volume.CephPorts;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// All ports to the clusters of a clusters file, and the thread that gives up what has stopped answering.
public final class CephAdapter implements AutoCloseable {
    private static final Duration SWEEP = Duration.ofSeconds(1);

    private final CephClusters clusters;
    private final CephFileSystems fileSystems;
    private final CephPorts ports;
    private final ScheduledExecutorService sweeper = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("ceph-sweep").factory());

    private CephAdapter(CephClusters clusters, CephFileSystems fileSystems) {
        this.clusters = clusters;
        this.fileSystems = fileSystems;
        this.ports = new CephPorts(
                clusters,
                new CephSubvolumes(clusters::connection),
                fileSystems.files(),
                new CephQuiesce(clusters::connection),
                fileSystems.sessions());
    }

    /// Begins to connect to all clusters and does not wait for it.
    ///
    /// @param timeLeft how long the caller on this thread still waits
    public static CephAdapter open(
            ClustersFile file, CallLimits limits, Supplier<Duration> timeLeft, PrometheusRegistry registry) {
        CephMetrics metrics = new CephMetrics(registry);
        CephClusters clusters = new CephClusters(file, limits, timeLeft, metrics);
        CephAdapter adapter =
                new CephAdapter(clusters, new CephFileSystems(clusters::connection, limits, timeLeft, metrics));
        clusters.warmUp();
        var _ = adapter.sweeper.scheduleWithFixedDelay(
                adapter::sweep, SWEEP.toMillis(), SWEEP.toMillis(), TimeUnit.MILLISECONDS);
        return adapter;
    }

    /// The ports, each served by this adapter.
    public CephPorts ports() {
        return ports;
    }

    private void sweep() {
        clusters.sweep();
        fileSystems.sweep();
    }

    /// Takes no further call; waits some seconds at most, and what is still under way then ends with the
    /// process.
    @Override
    public void close() {
        sweeper.shutdownNow();
        fileSystems.close();
        clusters.close();
    }
}

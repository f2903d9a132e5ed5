package dev.siphon.controller.ceph;

import dev.siphon.controller.audit.Trash;
import dev.siphon.controller.audit.VolumesDirectory;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.ceph.call.NativeThreads;
import dev.siphon.controller.ceph.fs.CephFileSystems;
import dev.siphon.controller.ceph.fs.ClientIdentity;
import dev.siphon.controller.key.ClientSessions;
import dev.siphon.controller.key.Identities;
import dev.siphon.controller.monitor.MonitorFollower;
import dev.siphon.controller.offboard.Archiver;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// All ports to the clusters of a clusters file, and the thread that gives up what has stopped answering.
public final class CephAdapter implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CephAdapter.class);
    private static final Duration SWEEP = Duration.ofSeconds(1);

    private final CephClusters clusters;
    private final CephFileSystems fileSystems;
    private final CephPorts ports;
    private final Identities identities;
    private final ClusterStatus state;
    private final JournalFlush journal;
    private final ScheduledExecutorService sweeper = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("ceph-sweep").factory());

    private CephAdapter(
            CephClusters clusters, CephFileSystems fileSystems, Optional<String> keyType, BackgroundTasks tasks) {
        this.journal = new JournalFlush(fileSystems::prepareJournalFlush, fileSystems::flushJournal, tasks);
        this.clusters = clusters;
        this.fileSystems = fileSystems;
        this.ports = new CephPorts(
                clusters,
                new CephSubvolumes(clusters::connection, journal, fileSystems.probes()),
                fileSystems.files(),
                new CephQuiesce(clusters::connection),
                fileSystems.sessions());
        this.identities = new CephIdentities(clusters::connection, keyType);
        this.state = new ClusterStatus(clusters::connection, keyType);
    }

    /// Begins to connect to all clusters and does not wait for it.
    ///
    /// @param identity who this controller is to the MDS daemons
    /// @param keyType of the keys of volumes (`aes`, `aes256k`); empty for the cluster's default
    /// @param timeLeft how long the caller on this thread still waits
    public static CephAdapter open(
            ClustersFile file,
            ClientIdentity identity,
            CallLimits limits,
            Optional<String> keyType,
            Supplier<Duration> timeLeft,
            PrometheusRegistry registry,
            BackgroundTasks tasks) {
        CephMetrics metrics = new CephMetrics(registry);
        CephClusters clusters = new CephClusters(file, limits, timeLeft, metrics);
        CephAdapter adapter = new CephAdapter(
                clusters,
                new CephFileSystems(clusters::connection, identity, limits, timeLeft, metrics),
                keyType,
                tasks);
        clusters.warmUp();
        var _ = adapter.sweeper.scheduleWithFixedDelay(
                tasks.guarded("ceph-sweep", adapter::sweep), SWEEP.toMillis(), SWEEP.toMillis(), TimeUnit.MILLISECONDS);
        return adapter;
    }

    /// The ports, each served by this adapter.
    public CephPorts ports() {
        return ports;
    }

    /// What lies below `/volumes`, in the same clusters.
    public VolumesDirectory survey() {
        return fileSystems.survey();
    }

    /// What waits to be purged, in the same clusters.
    public Trash trash() {
        return fileSystems.trash();
    }

    /// Archives of what is in the same clusters.
    public Archiver archiver() {
        return fileSystems.archiver();
    }

    /// By which monitors the same clusters are reached.
    public MonitorFollower.Connections monitors() {
        return clusters;
    }

    /// The identities of volumes, in the same clusters.
    public Identities identities() {
        return identities;
    }

    /// What the same clusters tell about themselves.
    public ClusterStatus state() {
        return state;
    }

    /// Who uses which identity, in the same clusters.
    public ClientSessions clientSessions() {
        return fileSystems.clientSessions();
    }

    /// Begins to mount every file system, which ends the sessions that an earlier run of this controller left
    /// when it was killed; does not wait for it. Without that they end at the first use of files, or by a
    /// timeout.
    public void takeOver() {
        clusters.ids()
                .forEach(cluster -> NativeThreads.named("take-over-" + cluster).start(() -> takeOver(cluster)));
    }

    private void takeOver(String cluster) {
        try {
            clusters.fileSystems(cluster).forEach(each -> fileSystems.warmUp(cluster, each.name()));
        } catch (DriverException e) {
            LOG.atDebug().addKeyValue("cluster", cluster).log("not mounted before it is needed: {}", e.getMessage());
        }
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
        journal.close();
        fileSystems.close();
        clusters.close();
    }
}

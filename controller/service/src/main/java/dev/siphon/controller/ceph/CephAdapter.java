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
import dev.siphon.controller.key.KeyTypes;
import dev.siphon.controller.monitor.MonitorFollower;
import dev.siphon.controller.offboard.Archiver;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Provides all ports to the clusters of a clusters file; a thread drops handles that have stopped answering.
public final class CephAdapter implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CephAdapter.class);
    private static final Duration SWEEP = Duration.ofSeconds(1);

    /// How long a cluster may take to say which types of keys it allows.
    private static final Duration CIPHERS = Duration.ofSeconds(5);

    private final CephClusters clusters;
    private final CephFileSystems fileSystems;
    private final CephPorts ports;
    private final KeyTypes keyTypes;
    private final Identities identities;
    private final ClusterStatus state;
    private final JournalFlush journal;
    private final BackgroundTasks.Task sweeper;

    private CephAdapter(
            CephClusters clusters, CephFileSystems fileSystems, KeyTypes.Rule keyType, BackgroundTasks tasks) {
        this.journal = new JournalFlush(fileSystems::prepareJournalFlush, fileSystems::flushJournal, tasks);
        this.clusters = clusters;
        this.fileSystems = fileSystems;
        this.ports = new CephPorts(
                clusters,
                new CephSubvolumes(clusters::connection, journal, fileSystems.probes()),
                fileSystems.files(),
                new CephQuiesce(clusters::connection),
                fileSystems.sessions());
        this.state = new ClusterStatus(clusters::connection);
        this.keyTypes = new KeyTypes(keyType, cluster -> state.ciphers(cluster, CIPHERS), System::nanoTime);
        this.identities = new CephIdentities(clusters::connection, keyTypes);
        this.sweeper = tasks.every("ceph-sweep", SWEEP, SWEEP, this::sweep);
    }

    /// Starts to connect to all clusters and does not wait.
    ///
    /// @param identity how this controller identifies itself to the MDS daemons
    /// @param keyType which type new keys have
    /// @param timeLeft how long the caller on this thread still waits
    public static CephAdapter open(
            ClustersFile file,
            ClientIdentity identity,
            CallLimits limits,
            KeyTypes.Rule keyType,
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
        return adapter;
    }

    /// Returns the ports that this adapter implements.
    public CephPorts ports() {
        return ports;
    }

    /// Returns the port that lists what is below `/volumes` in these clusters.
    public VolumesDirectory survey() {
        return fileSystems.survey();
    }

    /// Returns the port to what waits to be purged in these clusters.
    public Trash trash() {
        return fileSystems.trash();
    }

    /// Returns the port that archives data of these clusters.
    public Archiver archiver() {
        return fileSystems.archiver();
    }

    /// Returns the port to the monitor addresses that connections to these clusters use.
    public MonitorFollower.Connections monitors() {
        return clusters;
    }

    /// Returns the port to the identities of volumes in these clusters.
    public Identities identities() {
        return identities;
    }

    /// Returns what decides the type of new keys.
    public KeyTypes keyTypes() {
        return keyTypes;
    }

    /// Returns the status reports of these clusters.
    public ClusterStatus state() {
        return state;
    }

    /// Returns the port to the client sessions of each identity in these clusters.
    public ClientSessions clientSessions() {
        return fileSystems.clientSessions();
    }

    /// Starts to mount every file system and does not wait. Each first mount ends the sessions that an earlier,
    /// killed run of this controller left. Otherwise they end at the first use of files, or by a timeout.
    public void takeOver() {
        clusters.ids()
                .forEach(cluster -> NativeThreads.named("take-over-" + cluster).start(() -> takeOver(cluster)));
    }

    private void takeOver(String cluster) {
        try {
            clusters.fileSystems(cluster).forEach(each -> fileSystems.warmUp(cluster, each.name()));
        } catch (DriverException e) {
            LOG.atDebug().addKeyValue("cluster", cluster).log("not mounted in advance: {}", e.getMessage());
        }
    }

    private void sweep() {
        clusters.sweep();
        fileSystems.sweep();
    }

    /// Rejects further calls and waits a few seconds at most. Calls that still run then end with the process.
    @Override
    public void close() {
        sweeper.close();
        journal.close();
        fileSystems.close();
        clusters.close();
    }
}

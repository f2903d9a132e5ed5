package dev.siphon.controller.ceph;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.controller.monitor.MonitorFollower;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/// Holds the clusters of the clusters file. Each has its own connection and threads, so a cluster that hangs does
/// not block the others.
public final class CephClusters implements Clusters, MonitorFollower.Connections, AutoCloseable {
    private static final CephCommand LIST_FILE_SYSTEMS = CephCommand.read(Daemon.MON, "fs ls");

    private final SortedMap<String, CephConnection> connections = new TreeMap<>();
    private final Map<String, List<FileSystem>> fileSystems = new ConcurrentHashMap<>();
    private final Optional<String> defaultCluster;

    /// @param timeLeft how long the caller on this thread still waits
    public CephClusters(ClustersFile file, CallLimits limits, Supplier<Duration> timeLeft, CephMetrics metrics) {
        defaultCluster = file.defaultCluster();
        file.clusters()
                .forEach(access ->
                        connections.put(access.cluster(), new CephConnection(access, limits, timeLeft, metrics)));
    }

    /// Starts to connect to all clusters and does not wait.
    public void warmUp() {
        connections.values().forEach(CephConnection::warmUp);
    }

    /// Returns the connection to the cluster that an existing object names.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the clusters file does not list the cluster: the
    ///     object may still exist
    public CephConnection connection(String cluster) {
        return find(cluster).orElseThrow(() -> new DriverException.InUse(unknown(cluster)));
    }

    @Override
    public String defaultCluster() {
        return defaultCluster.orElseThrow(() -> new DriverException.InvalidRequest(
                "parameter cluster is needed: the clusters file marks none of " + ids() + " as default"));
    }

    @Override
    public List<String> ids() {
        return List.copyOf(connections.keySet());
    }

    @Override
    public List<String> monitors(String cluster) {
        ClusterAccess access = named(cluster).access();
        var _ = access.monHost(); // throws with the reason if no monitor is known
        return access.monitors();
    }

    @Override
    public SortedMap<String, List<String>> monitors() {
        SortedMap<String, List<String>> all = new TreeMap<>();
        connections.forEach((cluster, connection) -> {
            List<String> known = connection.access().monitors();
            if (!known.isEmpty()) {
                all.put(cluster, known);
            }
        });
        return all;
    }

    @Override
    public void moved(String cluster, List<String> monitors) {
        named(cluster).moved(monitors);
    }

    @Override
    public List<FileSystem> fileSystems(String cluster) {
        CephConnection connection = named(cluster);
        List<FileSystem> known = fileSystems.get(cluster);
        return known == null ? refresh(cluster, connection, Duration.ofDays(1)) : known;
    }

    @Override
    public Optional<String> trouble(String cluster, Duration deadline) {
        CephConnection connection = named(cluster);
        try {
            for (FileSystem each : refresh(cluster, connection, deadline)) {
                // The mgr reads a directory for this command, so the file system's MDS has replied too.
                connection
                        .call(
                                CephCommand.read(Daemon.MGR, "fs subvolumegroup exist")
                                        .with("vol_name", each.name()),
                                deadline)
                        .orThrow();
            }
            return Optional.empty();
        } catch (DriverException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private List<FileSystem> refresh(String cluster, CephConnection connection, Duration deadline) {
        List<FileSystem> found = connection.call(LIST_FILE_SYSTEMS, deadline).json().getAsJsonArray().asList().stream()
                .map(JsonElement::getAsJsonObject)
                .map(CephClusters::fileSystem)
                .sorted(Comparator.comparing(FileSystem::name))
                .toList();
        fileSystems.put(cluster, found);
        return found;
    }

    private static FileSystem fileSystem(JsonObject json) {
        List<String> pools = json.getAsJsonArray("data_pools").asList().stream()
                .map(JsonElement::getAsString)
                .toList();
        return new FileSystem(json.get("name").getAsString(), pools);
    }

    private CephConnection named(String cluster) {
        return find(cluster).orElseThrow(() -> new DriverException.InvalidRequest(unknown(cluster)));
    }

    private Optional<CephConnection> find(String cluster) {
        return Optional.ofNullable(connections.get(cluster));
    }

    private String unknown(String cluster) {
        return "cluster " + QuotedText.of(cluster) + " is not in the clusters file, which has " + ids();
    }

    /// Drops handles that have stopped answering; call about once a second.
    void sweep() {
        connections.values().forEach(CephConnection::sweep);
    }

    @Override
    public void close() {
        connections.values().forEach(CephConnection::close);
    }
}

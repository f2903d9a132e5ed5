package dev.siphon.controller.monitor;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Follows monitors that move, and publishes their addresses for nodes. A PersistentVolume keeps the addresses from
/// its creation, and pods must start even when all of these are gone.
public final class MonitorFollower {
    private static final Logger LOG = LoggerFactory.getLogger(MonitorFollower.class);

    /// Rook replaces a monitor that does not answer for ten minutes (`ROOK_MON_OUT_TIMEOUT`).
    private static final Duration EVERY = Duration.ofSeconds(60);

    private final Map<String, MonitorSource> sources;
    private final Connections connections;
    private final Optional<MonitorStore> store;

    /// Why a source could not be read in the last round, by cluster.
    private final Map<String, String> silent = new HashMap<>();

    /// The connections to clusters.
    public interface Connections {
        /// Returns the monitors of each cluster that has known ones.
        SortedMap<String, List<String>> monitors();

        /// Sets the monitors for new connections. An existing connection follows the cluster's own monitor map.
        void moved(String cluster, List<String> monitors);
    }

    /// @param sources of the clusters whose monitors somebody else moves
    /// @param store publishes to nodes; empty if they read nothing
    public MonitorFollower(Map<String, MonitorSource> sources, Connections connections, Optional<MonitorStore> store) {
        this.sources = new TreeMap<>(sources);
        this.connections = connections;
        this.store = store;
    }

    /// Returns the monitors by those sources that answer, and logs why the others do not.
    public static Map<String, List<String>> readMonitors(Map<String, MonitorSource> sources) {
        Map<String, List<String>> found = new TreeMap<>();
        sources.forEach((cluster, source) -> {
            try {
                found.put(cluster, source.read());
            } catch (DriverException e) {
                LOG.atWarn()
                        .addKeyValue("cluster", cluster)
                        .log("{} cannot be read yet: {}", source.where(), e.getMessage());
            }
        });
        return found;
    }

    /// Returns the source of a cluster's monitors; empty if nobody moves them.
    public Optional<MonitorSource> source(String cluster) {
        return Optional.ofNullable(sources.get(cluster));
    }

    /// Starts following; it ends when the task is closed.
    public BackgroundTasks.Task start(BackgroundTasks tasks) {
        return tasks.every("monitors", Duration.ZERO, EVERY, this::follow);
    }

    /// Does one round. Keeps the known monitors if a source does not answer.
    public void follow() {
        sources.forEach(this::follow);
        store.ifPresent(this::publish);
    }

    private void follow(String cluster, MonitorSource source) {
        try {
            List<String> now = source.read();
            if (silent.remove(cluster) != null) {
                LOG.atInfo().addKeyValue("cluster", cluster).log("{} can be read again", source.where());
            }
            if (!now.equals(connections.monitors().get(cluster))) {
                LOG.atInfo()
                        .addKeyValue("cluster", cluster)
                        .addKeyValue("monitors", now)
                        .log("the monitors are those of {}", source.where());
                connections.moved(cluster, now);
            }
        } catch (DriverException e) {
            String why = String.valueOf(e.getMessage());
            if (!why.equals(silent.put(cluster, why))) {
                LOG.atWarn()
                        .addKeyValue("cluster", cluster)
                        .log("{} cannot be read, so the monitors known before stay in use: {}", source.where(), why);
            }
        }
    }

    private void publish(MonitorStore nodes) {
        SortedMap<String, List<String>> known = connections.monitors();
        try {
            // entries of others beside these do no harm
            if (!nodes.last().entrySet().containsAll(known.entrySet())) {
                nodes.publish(known);
            }
        } catch (DriverException e) {
            LOG.atWarn().log("the addresses of the monitors are not published to nodes: {}", e.getMessage());
        }
    }
}

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

/// Follows monitors that move, and tells nodes where they are: a PersistentVolume keeps those that there were
/// when it was made, and a pod must start when all of these are gone.
public final class MonitorFollower {
    private static final Logger LOG = LoggerFactory.getLogger(MonitorFollower.class);

    /// Rook replaces a monitor that has been silent for ten minutes (`ROOK_MON_OUT_TIMEOUT`).
    private static final Duration EVERY = Duration.ofSeconds(60);

    private final Map<String, MonitorSource> sources;
    private final Connections connections;
    private final Optional<MonitorStore> store;

    /// Why a source could not be read in the last round, by cluster.
    private final Map<String, String> silent = new HashMap<>();

    /// What connects to clusters.
    public interface Connections {
        /// The monitors that each cluster is reached by; without clusters of which none is known.
        SortedMap<String, List<String>> monitors();

        /// Takes others for what is connected from now on. A connection that is there follows the cluster itself.
        void moved(String cluster, List<String> monitors);
    }

    /// @param sources of the clusters whose monitors somebody else moves
    /// @param store where nodes look; empty if they look nowhere
    public MonitorFollower(Map<String, MonitorSource> sources, Connections connections, Optional<MonitorStore> store) {
        this.sources = new TreeMap<>(sources);
        this.connections = connections;
        this.store = store;
    }

    /// What the sources say now; without those that do not answer, of which the log says why.
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

    /// Who moves the monitors of a cluster; empty if nobody does.
    public Optional<MonitorSource> source(String cluster) {
        return Optional.ofNullable(sources.get(cluster));
    }

    /// Begins, until the task is closed.
    public BackgroundTasks.Task start(BackgroundTasks tasks) {
        return tasks.every("monitors", Duration.ZERO, EVERY, this::follow);
    }

    /// One round. What does not answer keeps what was known.
    public void follow() {
        sources.forEach(this::follow);
        store.ifPresent(this::publish);
    }

    private void follow(String cluster, MonitorSource source) {
        try {
            List<String> now = source.read();
            if (silent.remove(cluster) != null) {
                LOG.atInfo().addKeyValue("cluster", cluster).log("{} is read again", source.where());
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
                        .log("{} cannot be read, and the monitors known before serve: {}", source.where(), why);
            }
        }
    }

    private void publish(MonitorStore nodes) {
        SortedMap<String, List<String>> known = connections.monitors();
        try {
            // what others wrote beside it harms nobody
            if (!nodes.last().entrySet().containsAll(known.entrySet())) {
                nodes.publish(known);
            }
        } catch (DriverException e) {
            LOG.atWarn().log("nodes are not told where the monitors are: {}", e.getMessage());
        }
    }
}

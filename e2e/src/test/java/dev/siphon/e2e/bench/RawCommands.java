package dev.siphon.e2e.bench;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.e2e.lab.Lab;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.List;

/// The bare mgr commands that a driver needs: the cluster's own share of the time.
final class RawCommands implements AutoCloseable {
    private final CephConnection connection;
    private final String fileSystem;
    private final String group;
    private final long bytes;
    private final int uid;

    /// @param group created if absent
    /// @param bytes the size of each subvolume
    /// @param uid of each subvolume's owner; also the gid
    RawCommands(Lab lab, String group, long bytes, int uid) {
        this.connection = new CephConnection(
                new ClusterAccess("raw", List.of(lab.monitors()), "admin", lab.keyring()),
                CallLimits.DEFAULT,
                () -> Duration.ofMinutes(1),
                new CephMetrics(new PrometheusRegistry()));
        this.fileSystem = lab.fileSystem();
        this.group = group;
        this.bytes = bytes;
        this.uid = uid;
        connection.call(command("fs subvolumegroup create")).orThrow();
    }

    /// Runs `fs subvolume create` with the arguments that Siphon uses.
    boolean create(String name) {
        return succeeds(command("fs subvolume create")
                .with("sub_name", name)
                .with("size", bytes)
                .with("uid", uid)
                .with("gid", uid)
                .with("mode", "700")
                .with("namespace_isolated", true));
    }

    boolean remove(String name) {
        return succeeds(command("fs subvolume rm")
                .with("sub_name", name)
                .with("retain_snapshots", true)
                .with("force", true));
    }

    boolean info(String name) {
        return succeeds(command("fs subvolume info").with("sub_name", name));
    }

    private CephCommand command(String prefix) {
        return CephCommand.change(Daemon.MGR, prefix)
                .with("vol_name", fileSystem)
                .with("group_name", group);
    }

    private boolean succeeds(CephCommand command) {
        return connection.call(command).returnCode() == 0;
    }

    @Override
    public void close() {
        connection.close();
    }
}

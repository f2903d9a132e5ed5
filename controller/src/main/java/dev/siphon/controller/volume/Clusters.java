package dev.siphon.controller.volume;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Port: the clusters that the clusters file names, and what concerns one as a whole.
public interface Clusters {
    /// The cluster to use where a class names none: the one marked default, or the only one.
    ///
    /// @throws DriverException.InvalidRequest if there are several and none is marked
    String defaultCluster();

    /// The ids of all clusters, sorted.
    List<String> ids();

    /// A cluster's monitors, as `mon_host` would name them.
    ///
    /// @throws DriverException.InvalidRequest if there is no such cluster; the message lists those there are
    List<String> monitors(String cluster);

    /// The file systems of a cluster, sorted, as they were when [#trouble] was last asked, which a readiness
    /// check does every few seconds; asked for when not known yet.
    ///
    /// @throws DriverException.InvalidRequest if there is no such cluster
    List<FileSystem> fileSystems(String cluster);

    /// Whether the cluster's mon, mgr and MDS answer, by a cheap command through all three; empty when they
    /// do, else why not.
    Optional<String> trouble(String cluster, Duration deadline);

    /// A file system.
    ///
    /// @param dataPools the names of its data pools; a file goes to the first unless a layout says otherwise
    record FileSystem(String name, List<String> dataPools) {}
}

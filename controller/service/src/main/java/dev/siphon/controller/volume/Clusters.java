package dev.siphon.controller.volume;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Port: the clusters in the clusters file, and what concerns each as a whole.
public interface Clusters {
    /// Returns the cluster for classes that name none: the one marked default, or the only one.
    ///
    /// @throws dev.siphon.csi.DriverException.InvalidRequest if there are several and none is marked
    String defaultCluster();

    /// Returns the ids of all clusters, sorted.
    List<String> ids();

    /// Returns a cluster's monitors, in the form of `mon_host`.
    ///
    /// @throws dev.siphon.csi.DriverException.InvalidRequest if there is no such cluster; the message lists the
    /// known ones
    List<String> monitors(String cluster);

    /// Returns the file systems of a cluster, sorted, as of the last call of [#trouble]: a readiness check makes
    /// one every few seconds. Asks the cluster only if they are unknown.
    ///
    /// @throws dev.siphon.csi.DriverException.InvalidRequest if there is no such cluster
    List<FileSystem> fileSystems(String cluster);

    /// Checks by cheap commands that the cluster's mon, mgr and MDS reply. Returns empty if they do, else why not.
    Optional<String> trouble(String cluster, Duration deadline);

    /// A file system.
    ///
    /// @param dataPools the names of its data pools; files go to the first unless a layout names another
    record FileSystem(String name, List<String> dataPools) {}
}

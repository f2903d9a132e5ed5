package dev.siphon.controller.ceph.rados;

import dev.siphon.csi.DriverException;
import java.nio.file.Path;
import java.util.List;

/// How to connect to one cluster.
///
/// @param cluster its id in the clusters file
/// @param monitors as in `mon_host` of ceph.conf; none while Rook's are unknown
/// @param user the cephx user without `client.`
/// @param keyringFile the file with that user's key; this type handles only its path
public record ClusterAccess(String cluster, List<String> monitors, String user, Path keyringFile) {
    public ClusterAccess {
        monitors = List.copyOf(monitors);
    }

    /// Returns the same cluster with its current monitors.
    public ClusterAccess at(List<String> monitorsNow) {
        return new ClusterAccess(cluster, monitorsNow, user, keyringFile);
    }

    /// Returns the monitors as one `mon_host` value.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if none is known
    public String monHost() {
        if (monitors.isEmpty()) {
            throw new DriverException.BackendUnavailable("the monitors of cluster " + cluster + " are not known yet:"
                    + " the log and `siphon check controller` say why Rook's ConfigMap cannot be read");
        }
        return String.join(",", monitors);
    }
}

package dev.siphon.controller.ceph.rados;

import dev.siphon.csi.DriverException;
import java.nio.file.Path;
import java.util.List;

/// How to reach one cluster.
///
/// @param cluster its id in the clusters file
/// @param monitors as in `mon_host` of ceph.conf; none while it is not known where Rook has them
/// @param user the cephx user without `client.`
/// @param keyringFile where that user's key is; only its path is handled here
public record ClusterAccess(String cluster, List<String> monitors, String user, Path keyringFile) {
    public ClusterAccess {
        monitors = List.copyOf(monitors);
    }

    /// The same cluster where its monitors are now.
    public ClusterAccess at(List<String> monitorsNow) {
        return new ClusterAccess(cluster, monitorsNow, user, keyringFile);
    }

    /// The monitors as one `mon_host` value.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if none is known
    public String monHost() {
        if (monitors.isEmpty()) {
            throw new DriverException.BackendUnavailable("it is not known yet where the monitors of cluster " + cluster
                    + " are: the log says why Rook's ConfigMap cannot be read, as does `siphon check controller`");
        }
        return String.join(",", monitors);
    }
}

package dev.siphon.controller.ceph.rados;

import java.nio.file.Path;
import java.util.List;

/// How to reach one cluster.
///
/// @param cluster its id in the clusters file
/// @param monitors as in `mon_host` of ceph.conf
/// @param user the cephx user without `client.`
/// @param keyringFile where that user's key is; only its path is handled here
public record ClusterAccess(String cluster, List<String> monitors, String user, Path keyringFile) {
    public ClusterAccess {
        monitors = List.copyOf(monitors);
    }

    /// The monitors as one `mon_host` value.
    public String monHost() {
        return String.join(",", monitors);
    }
}

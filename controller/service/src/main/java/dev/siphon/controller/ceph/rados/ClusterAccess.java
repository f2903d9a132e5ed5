package dev.siphon.controller.ceph.rados;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.csi.CephClientLog;
import dev.siphon.csi.DriverException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

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

    /// Returns the options of librados and libcephfs by name. One controller sends few commands at once, so a client
    /// needs few threads.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if no monitor is known
    public Map<String, String> clientOptions(CallLimits limits) {
        // Never set rados_mon_op_timeout: librados writes a mgr's reply that arrives later to freed memory.
        Map<String, String> options = new TreeMap<>(CephClientLog.options());
        options.put("mon_host", monHost());
        options.put("keyring", keyringFile.toString());
        options.put("client_mount_timeout", Long.toString(limits.connect().toSeconds()));
        options.put("log_to_stderr", "false");
        options.put("err_to_stderr", "false");
        options.put("ms_async_op_threads", "1");
        options.put("librados_thread_count", "1");
        return options;
    }
}

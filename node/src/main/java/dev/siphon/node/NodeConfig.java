package dev.siphon.node;

import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeContext.MounterChoice;
import dev.siphon.csi.server.ServerConfig;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.registration.KubeletPlugin;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// How the node process is set up; [NodeOptions] makes one from flags.
///
/// @param id how the CO names this node
/// @param stateDirectory this process's own
/// @param maxVolumes how many volumes the CO may bring here, 0 for as many as it likes
/// @param limits how long file systems may take
/// @param mounter what every volume is mounted with, whatever its class says; `auto` leaves it to the class
/// @param fuse how ceph-fuse and erofsfuse are run
/// @param grants where to learn which namespaces may use whose volumes
/// @param caches the disks for replicas of datasets
/// @param devices how it learns which devices pods hold
/// @param control where its administrator reaches it
/// @param http where programs ask for datasets
/// @param registration what to tell the kubelet; empty if somebody else does
public record NodeConfig(
        ServerConfig server,
        NodeId id,
        Path stateDirectory,
        long maxVolumes,
        NodeVolumes.Limits limits,
        MounterChoice mounter,
        FuseConfig fuse,
        GrantsSourceOption grants,
        List<CacheDirectoryLimits> caches,
        DeviceConfig devices,
        UnixEndpoint control,
        HttpConfig http,
        Optional<KubeletPlugin> registration) {
    public NodeConfig {
        caches = List.copyOf(caches);
    }
}

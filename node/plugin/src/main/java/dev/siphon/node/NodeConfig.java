package dev.siphon.node;

import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeContext.MounterChoice;
import dev.siphon.csi.server.ServerConfig;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.registration.KubeletPlugin;
import dev.siphon.node.replica.ReplicaPolicy;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// The configuration of the node process; [NodeOptions] reads it from flags.
///
/// @param id the CO's name of this node
/// @param stateDirectory used by this process alone
/// @param maxVolumes how many volumes the CO may place here; 0 for no limit
/// @param limits the time limits for calls to file systems
/// @param mounter the client for every volume, whatever its class says; `auto` for the class's choice
/// @param fuse how to run ceph-fuse and erofsfuse
/// @param grants the source of grants
/// @param caches the cache directories
/// @param replicas the rates and deadlines of replicas
/// @param fillTurns whether fills wait for the turns that the controller hands out
/// @param offlineFor how long datasets that were opened may be shown while Ceph is away; zero if never
/// @param devices how to learn which devices pods hold
/// @param control the socket for the administrator
/// @param http where to serve datasets to programs
/// @param registration how to register with the kubelet; empty if another program does
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
        ReplicaPolicy replicas,
        boolean fillTurns,
        Duration offlineFor,
        DeviceConfig devices,
        UnixEndpoint control,
        HttpConfig http,
        Optional<KubeletPlugin> registration) {
    public NodeConfig {
        caches = List.copyOf(caches);
    }
}

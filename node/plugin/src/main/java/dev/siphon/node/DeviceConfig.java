package dev.siphon.node;

import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.device.ClaimedDevices;
import dev.siphon.node.device.DeviceClaims;
import dev.siphon.node.device.PodDevices;
import dev.siphon.node.device.rpc.KubeletPodDevices;
import dev.siphon.node.replica.GpuProximity;
import dev.siphon.node.topology.MachineRoots;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.Optional;

/// How the node learns which devices pods hold, and how it uses that; [DeviceOptions] reads it from flags.
///
/// @param podResources the kubelet's socket for that; empty to ask nobody
/// @param machine where to read the machine's devices
/// @param fillsSecond as in [GpuProximity]
public record DeviceConfig(Optional<UnixEndpoint> podResources, MachineRoots machine, boolean fillsSecond) {
    /// How long to wait for NodePublishVolume, which follows NodeStageVolume within a second if nothing is slow.
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final Duration LIMIT = Duration.ofSeconds(2);

    GpuProximity near() {
        return podResources.isEmpty() ? GpuProximity.UNKNOWN : new GpuProximity(PATIENCE, LIMIT, fillsSecond);
    }

    Optional<KubeletPodDevices> kubelet(PrometheusRegistry metrics) {
        return podResources.map(socket -> new KubeletPodDevices(socket, metrics));
    }

    /// @param claims asked if the kubelet knows of no GPU
    static PodDevices devices(Optional<KubeletPodDevices> kubelet, DeviceClaims claims) {
        return kubelet.<PodDevices>map(known -> new ClaimedDevices(known, claims, LIMIT))
                .orElse(PodDevices.NOBODY);
    }
}

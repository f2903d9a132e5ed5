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

/// How the node learns which devices pods hold, and what it does about it; [DeviceOptions] makes one from flags.
///
/// @param podResources where the kubelet says it; empty if nobody is asked
/// @param machine where the machine's devices are read
/// @param fillsSecond as [GpuProximity]
public record DeviceConfig(Optional<UnixEndpoint> podResources, MachineRoots machine, boolean fillsSecond) {
    /// NodePublishVolume follows NodeStageVolume within a second where nothing is slow.
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final Duration LIMIT = Duration.ofSeconds(2);

    GpuProximity near() {
        return podResources.isEmpty() ? GpuProximity.UNKNOWN : new GpuProximity(PATIENCE, LIMIT, fillsSecond);
    }

    Optional<KubeletPodDevices> kubelet(PrometheusRegistry metrics) {
        return podResources.map(socket -> new KubeletPodDevices(socket, metrics));
    }

    /// @param claims who is asked where the kubelet knows of no GPU
    static PodDevices devices(Optional<KubeletPodDevices> kubelet, DeviceClaims claims) {
        return kubelet.<PodDevices>map(known -> new ClaimedDevices(known, claims, LIMIT))
                .orElse(PodDevices.NOBODY);
    }
}

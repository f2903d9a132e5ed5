package dev.siphon.node.device;

import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.pod.PodHealth;
import dev.siphon.node.topology.MachineRoots;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.List;

/// A node without cache directories, where the devices of a pod do not matter.
public final class AnyPlace {
    private AnyPlace() {}

    public static DatasetPlacement of(PodHealth pods, BlockingCalls calls) {
        return new DatasetPlacement(
                new NearestCaches(PodDevices.NOBODY, new Machine(MachineRoots.live(), List.of(), calls)),
                pods,
                new PrometheusRegistry());
    }
}

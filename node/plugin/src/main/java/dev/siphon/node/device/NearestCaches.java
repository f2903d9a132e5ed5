package dev.siphon.node.device;

import dev.siphon.node.pod.Pod;
import dev.siphon.node.topology.CacheRanking;
import dev.siphon.node.topology.DevicePlace;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Finds the cache directories nearest to a pod's GPUs.
public final class NearestCaches {
    private static final Logger LOG = LoggerFactory.getLogger(NearestCaches.class);

    private final PodDevices devices;
    private final Machine machine;

    public NearestCaches(PodDevices devices, Machine machine) {
        this.devices = devices;
        this.machine = machine;
    }

    /// Ranks the cache directories; takes at most a few seconds, and never fails.
    ///
    /// @return empty if it does not matter: the pod has no GPU, there is at most one cache directory, or the
    ///     devices are unknown
    public Optional<CacheRanking> of(Pod pod) {
        if (!machine.hasChoice()) {
            return Optional.empty();
        }
        return switch (devices.of(pod)) {
            case PodDevices.Answer.Held(var held) -> rank(held);
            case PodDevices.Answer.Unknown(var why) -> {
                LOG.atWarn()
                        .addKeyValue("pod", pod.namespace() + "/" + pod.name())
                        .addKeyValue("reason", why)
                        .log("a pod's devices are unknown: its datasets are published from where they are");
                yield Optional.empty();
            }
        };
    }

    /// A pod's GPUs.
    ///
    /// @param shown for people
    /// @param ranking the cache directories by their distance; empty if the GPUs' places are unknown
    record Gpus(String shown, Optional<CacheRanking> ranking) {}

    /// Returns a pod's GPUs; empty if it has none, or if its devices are unknown. Takes at most a few seconds.
    Optional<Gpus> gpus(Pod pod) {
        if (!(devices.of(pod) instanceof PodDevices.Answer.Held(var held))) {
            return Optional.empty();
        }
        Optional<CacheRanking> ranking = rank(held);
        List<String> shown = ranking.map(known ->
                        known.devices().stream().map(DevicePlace::shown).toList())
                .orElseGet(() -> held.stream()
                        .filter(HeldDevice::isGpu)
                        .map(HeldDevice::resource)
                        .toList());
        return shown.isEmpty() ? Optional.empty() : Optional.of(new Gpus(String.join(", ", shown), ranking));
    }

    boolean hasChoice() {
        return machine.hasChoice();
    }

    /// Ranks them for a pod that holds these devices.
    Optional<CacheRanking> rank(List<HeldDevice> held) {
        List<DevicePlace> places = held.isEmpty() ? List.of() : machine.places(held);
        return places.isEmpty() ? Optional.empty() : Optional.of(CacheRanking.of(machine.caches(), places));
    }
}

package dev.siphon.node.device;

import dev.siphon.node.pod.Pod;
import dev.siphon.node.topology.CacheRanking;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// Ranks the cache directories for running pods, by the devices that they hold now. Each ranking queries the
/// kubelet once for all pods. Claims stay the same while a pod runs, so they are queried once per pod without a GPU
/// from the kubelet.
///
/// Not thread-safe.
public final class RunningPodCaches {
    private static final Duration LIMIT = Duration.ofSeconds(2);

    private final AllPodDevices kubelet;
    private final DeviceClaims claims;
    private final NearestCaches nearest;
    private final Map<Pod, List<HeldDevice>> claimed = new HashMap<>();

    public RunningPodCaches(AllPodDevices kubelet, DeviceClaims claims, NearestCaches nearest) {
        this.kubelet = kubelet;
        this.claims = claims;
        this.nearest = nearest;
    }

    /// Returns whether there are several cache directories to choose from.
    boolean haveChoice() {
        return nearest.hasChoice();
    }

    /// Ranks the directories for each of `pods`.
    ///
    /// @param pods all pods of interest; cached claims of other pods are dropped
    /// @return an empty ranking for a pod to which it does not matter; no entry for a pod with unknown devices
    Map<Pod, Optional<CacheRanking>> rank(Collection<Pod> pods) {
        claimed.keySet().retainAll(pods);
        Map<Pod, Optional<CacheRanking>> ranked = new HashMap<>();
        kubelet.all()
                .ifPresent(all -> pods.forEach(pod -> {
                    List<HeldDevice> held = Stream.concat(
                                    all.getOrDefault(Pod.named(pod.namespace(), pod.name()), List.of()).stream(),
                                    isOnlyOne(pod, pods) ? HotMounts.of(pod, all).stream() : Stream.empty())
                            .toList();
                    Optional<List<HeldDevice>> known =
                            held.stream().anyMatch(HeldDevice::isGpu) ? Optional.of(held) : withClaims(pod, held);
                    known.ifPresent(devices -> ranked.put(pod, nearest.rank(devices)));
                }));
        return ranked;
    }

    /// Returns whether the pod's name is unique: a pod that holds devices for another has only the other's name in
    /// its own, not the namespace.
    private static boolean isOnlyOne(Pod pod, Collection<Pod> pods) {
        return pods.stream().filter(each -> each.name().equals(pod.name())).count() == 1;
    }

    private Optional<List<HeldDevice>> withClaims(Pod pod, List<HeldDevice> held) {
        Optional<List<HeldDevice>> kept = Optional.ofNullable(claimed.get(pod));
        return kept.or(() -> claims(pod))
                .map(more -> Stream.concat(held.stream(), more.stream()).toList());
    }

    /// Caches the devices only if they are final; a refusal may end later.
    private Optional<List<HeldDevice>> claims(Pod pod) {
        return switch (claims.of(pod, LIMIT)) {
            case DeviceClaims.Answer.Held(var devices) -> {
                claimed.put(pod, devices);
                yield Optional.of(devices);
            }
            case DeviceClaims.Answer.Refused _ -> Optional.of(List.of());
            case DeviceClaims.Answer.Unknown _ -> Optional.empty();
        };
    }
}

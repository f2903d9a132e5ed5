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

/// Which cache directories are nearest to pods that run already, by the devices that they have now. The kubelet is
/// asked once for all, and claims once for each pod that has no GPU by that: those stay the same while it runs.
///
/// For one thread.
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

    /// Whether there is anything to choose from.
    boolean haveChoice() {
        return nearest.hasChoice();
    }

    /// Ranks the directories for each of `pods`, all that there are.
    ///
    /// @return empty of a pod to which it does not matter; without those of which nothing is known now
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

    /// The pod that holds devices for another one has no more than the other's name.
    private static boolean isOnlyOne(Pod pod, Collection<Pod> pods) {
        return pods.stream().filter(each -> each.name().equals(pod.name())).count() == 1;
    }

    private Optional<List<HeldDevice>> withClaims(Pod pod, List<HeldDevice> held) {
        Optional<List<HeldDevice>> kept = Optional.ofNullable(claimed.get(pod));
        return kept.or(() -> claims(pod))
                .map(more -> Stream.concat(held.stream(), more.stream()).toList());
    }

    /// Keeps what stays so: who may not ask now may do later.
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

package dev.siphon.controller.kubernetes;

import dev.siphon.csi.VolumeId;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/// Which datasets claims show, and which pods were given one that they name themselves.
///
/// @param claims by their [RunningPods#key]
/// @param pods datasets of pods that name them directly, by uid
record ShownDatasets(Map<Long, VolumeId.DatasetVolume> claims, Map<String, Set<VolumeId.DatasetVolume>> pods) {
    /// @param datasets the datasets that matter, without claims
    static ShownDatasets of(
            PersistentVolumes volumes, DatasetAccesses accesses, Collection<VolumeId.DatasetVolume> datasets) {
        // one shared object per dataset, however many volumes it has
        Map<VolumeId.DatasetVolume, VolumeId.DatasetVolume> wanted =
                datasets.stream().distinct().collect(Collectors.toMap(Function.identity(), Function.identity()));
        Map<Long, VolumeId.DatasetVolume> claims = new HashMap<>();
        volumes.eachOfDatasets((claim, dataset) ->
                Optional.ofNullable(wanted.get(dataset)).ifPresent(one -> claims.put(RunningPods.key(claim), one)));
        Map<String, Set<VolumeId.DatasetVolume>> pods = new HashMap<>();
        for (DatasetAccesses.Given given : accesses.given()) {
            Optional.ofNullable(wanted.get(given.dataset()))
                    .ifPresent(one -> pods.computeIfAbsent(given.podUid(), _ -> new HashSet<>())
                            .add(one));
        }
        return new ShownDatasets(claims, pods);
    }

    boolean isEmpty() {
        return claims.isEmpty() && pods.isEmpty();
    }

    /// Returns the datasets of a pod. A dataset that the pod names directly counts once the pod was given it.
    Set<VolumeId.DatasetVolume> of(RunningPods.RunningPod pod) {
        Set<VolumeId.DatasetVolume> found = new HashSet<>(pods.getOrDefault(pod.uid(), Set.of()));
        for (Long claim : pod.claims()) {
            Optional.ofNullable(claims.get(claim)).ifPresent(found::add);
        }
        return found;
    }
}

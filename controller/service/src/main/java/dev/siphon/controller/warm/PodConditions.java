package dev.siphon.controller.warm;

import dev.siphon.csi.VolumeId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Port: the condition [DataReadiness#CONDITION] of pods.
///
/// All methods throw [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if there is no reply, and
/// [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver lacks the permission.
public interface PodConditions {
    /// A pod.
    ///
    /// @param uid distinguishes it from earlier pods of the same name
    record PodIdentity(String namespace, String name, String uid) {
        static PodIdentity of(GatedPod pod) {
            return new PodIdentity(pod.namespace(), pod.name(), pod.uid());
        }
    }

    /// A pod that is on a node, has not ended and uses datasets.
    ///
    /// @param datasets without claims; at least one
    /// @param isReady the status of its condition; empty if it has none
    record PodOnNode(PodIdentity pod, String node, Set<VolumeId.DatasetVolume> datasets, Optional<Boolean> isReady) {
        public PodOnNode {
            datasets = Set.copyOf(datasets);
        }
    }

    /// Returns the pods on nodes that use declared datasets and already have the condition, or are on one of `nodes`.
    ///
    /// @param declared the datasets' volumes, without claims
    List<PodOnNode> onNodes(Set<String> nodes, Set<VolumeId.DatasetVolume> declared);

    /// Writes the condition and nothing else. Writing the same again changes nothing.
    ///
    /// @param since when its status became so; empty to leave the time as it is
    /// @return false if the pod is gone
    boolean write(PodIdentity pod, DataReadiness readiness, Optional<Instant> since);
}

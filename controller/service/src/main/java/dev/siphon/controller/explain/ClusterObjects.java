package dev.siphon.controller.explain;

import dev.siphon.csi.VolumeId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/// Port: pods, claims, PersistentVolumes and events of Kubernetes. Nothing is cached.
///
/// All methods throw [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if the API server does not
/// reply, and [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver lacks permission.
public interface ClusterObjects {
    /// Returns the PersistentVolumes of this driver.
    List<KnownVolume> volumes();

    /// Returns a claim; empty if there is none.
    Optional<KnownClaim> claim(NamespacedName claim);

    /// Returns a pod; empty if there is none.
    Optional<KnownPod> pod(NamespacedName pod);

    /// Passes on each pod, ended ones too.
    ///
    /// @param namespace limits it to one namespace; empty for all
    void pods(Optional<String> namespace, Consumer<KnownPod> each);

    /// Returns the events of an object, the latest last: 500 at most, and of each message the beginning.
    ///
    /// @param kind `Pod` or `PersistentVolumeClaim`
    /// @param uid of the object: an earlier one of its name had other events
    List<KnownEvent> events(String kind, NamespacedName object, String uid);

    /// A PersistentVolume.
    ///
    /// @param claim its claim, which may be deleted
    /// @param phase `Bound`, `Released` and so on (Kubernetes, "Persistent Volumes")
    record KnownVolume(String name, VolumeId volume, Optional<NamespacedName> claim, String phase) {
        /// Whether it is no longer a claim's, because its claim was deleted.
        boolean isReleased() {
            return phase.equals("Released") || phase.equals("Failed");
        }
    }

    /// A claim.
    ///
    /// @param phase `Pending`, `Bound` or `Lost`
    /// @param volume the name of its PersistentVolume; empty until it is bound
    /// @param dataset the dataset that its annotation names
    record KnownClaim(
            NamespacedName name, String uid, String phase, Optional<String> volume, Optional<String> dataset) {}

    /// A pod.
    ///
    /// @param node where it is; empty until it is scheduled
    /// @param phase `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`
    /// @param isLeaving whether it is being deleted
    /// @param claims names of the claims that it mounts
    /// @param datasets the datasets that it names itself
    /// @param gates its scheduling gates
    /// @param unscheduled why the scheduler has not placed it
    /// @param waiting what its containers wait for, as `NAME: REASON`
    record KnownPod(
            NamespacedName name,
            String uid,
            Optional<String> node,
            String phase,
            boolean isLeaving,
            List<String> claims,
            List<String> datasets,
            List<String> gates,
            Optional<String> unscheduled,
            List<String> waiting) {
        public KnownPod {
            claims = List.copyOf(claims);
            datasets = List.copyOf(datasets);
            gates = List.copyOf(gates);
            waiting = List.copyOf(waiting);
        }

        /// Whether it has ended, so that it uses nothing any more.
        boolean hasEnded() {
            return phase.equals("Succeeded") || phase.equals("Failed");
        }

        /// Whether it mounts this claim.
        boolean mounts(NamespacedName claim) {
            return name.namespace().equals(claim.namespace()) && claims.contains(claim.name());
        }
    }

    /// An event. Whoever may write events in a namespace can write any text.
    ///
    /// @param last when it was last seen
    record KnownEvent(boolean warning, String reason, String message, Instant last) {}
}

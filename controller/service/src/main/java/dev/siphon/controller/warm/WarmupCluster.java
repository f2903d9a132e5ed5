package dev.siphon.controller.warm;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Port: the current pods, nodes, and objects about replicas in Kubernetes.
///
/// All methods throw [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if there is no reply, and
/// [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver lacks the permission.
public interface WarmupCluster {
    /// Starts watches that keep the data of this port current. Before that, each read is a request to the API
    /// server.
    ///
    /// @param changed called after each change; must return at once
    /// @return the watches; they run until they are closed
    List<BackgroundTasks.Task> follow(BackgroundTasks tasks, Runnable changed);

    /// Returns the pods that wait at Siphon's gate, have no other gate, and are not being deleted. A pod with
    /// another gate appears once that gate is removed.
    ///
    /// Their needs include devices requested by ResourceClaims, if these can be counted. [#nodes] then counts the
    /// nodes' devices. Until these are known, at most 5 s, a pod's needs are not ([GatedPod#isKnown]).
    ///
    /// @param now start of the wait of a pod seen for the first time, unless its object shows it
    List<GatedPod> gated(Instant now);

    /// Returns all nodes, and what is used of each.
    List<ClusterNode> nodes();

    /// Returns all ordered replicas.
    List<OrderedReplica> replicas();

    /// Returns the administrators' warmups.
    List<Warmup> warmups();

    /// Returns the dataset that a PVC shows, by name or by volume.
    ///
    /// @return empty if the PVC does not exist, or its volume is not known yet
    /// @throws dev.siphon.csi.DriverException.InvalidRequest (INVALID_ARGUMENT) if its annotation is longer than
    ///     any dataset's name
    Optional<ClaimContent> claimed(String namespace, String claim);

    /// What a PVC shows.
    sealed interface ClaimContent {
        /// A dataset by name, as its user wrote it.
        record Named(String text) implements ClaimContent {}

        /// A volume of a dataset, if no name is written.
        record DatasetClaim(VolumeId.DatasetVolume volume) implements ClaimContent {}

        /// No dataset.
        record Other() implements ClaimContent {}
    }

    /// Orders a replica from a node. An existing order stays unchanged.
    void writeOrder(String name, DatasetReplica.Order order);

    /// Marks an order as wanted or not. A missing one is ignored.
    void setWanted(OrderedReplica replica, boolean wanted);

    /// Writes the answer to a node. A missing order is ignored.
    void answer(OrderedReplica replica, DatasetAccess.Answer answer);

    /// Sets a node's turn to fill a replica, or takes it away. A missing order is ignored.
    void setTurn(OrderedReplica replica, Optional<DatasetReplica.Turn> turn);

    /// Deletes an order; a missing one is no error.
    void forget(OrderedReplica replica);

    /// Opens a pod's gate, and says where it is to run.
    ///
    /// @return false if the pod is gone, or was changed meanwhile
    boolean open(GatedPod pod, PodPlacement placement);

    /// Writes an event on a pod.
    void report(GatedPod pod, Notice notice);

    /// Returns the conditions of pods that say whether their datasets are on a disk.
    PodConditions conditions();

    /// Returns Kueue's Workloads that wait for datasets.
    AdmissionQueue queue();

    /// Writes the status of a warmup. A missing one is ignored.
    void report(Warmup warmup, Warmup.Status status);

    /// An event of Kubernetes.
    ///
    /// @param warning whether someone should act
    record Notice(boolean warning, String reason, String message) {}
}

package dev.siphon.controller.warm;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Port: pods, nodes and the objects about replicas, as the cluster has them now.
///
/// All of it throws [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if there is no answer, and
/// [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver may not.
public interface WarmupCluster {
    /// Keeps what is read here current from now on, by watches. Before, each reading asks the API server.
    ///
    /// @param changed called after each change; it returns at once
    /// @return what goes on until it is closed
    List<BackgroundTasks.Task> follow(BackgroundTasks tasks, Runnable changed);

    /// The pods that wait at our gate, carry no other gate, and are not being deleted. A pod that another gate
    /// holds as well is left to whoever that gate belongs to: it appears here once that gate is gone.
    ///
    /// Devices that they ask for by ResourceClaims are among what they need, where that can be counted; [#nodes]
    /// says then how many there are, as of 10 s ago at most.
    ///
    /// @param now since when a pod waits that appears for the first time, unless its object tells
    List<GatedPod> gated(Instant now);

    /// All nodes, and what is taken of each.
    List<ClusterNode> nodes();

    /// All replicas that nodes were told of.
    List<OrderedReplica> replicas();

    /// What administrators want ahead of time.
    List<Warmup> warmups();

    /// The dataset that a PVC shows, by its name or its volume.
    ///
    /// @return empty if there is no such PVC, or nobody can say yet
    Optional<ClaimContent> claimed(String namespace, String claim);

    /// What a PVC is.
    sealed interface ClaimContent {
        /// It shows the dataset of that name, as people write it.
        record Named(String text) implements ClaimContent {}

        /// It has a volume of a dataset, of which nobody has written the name.
        record DatasetClaim(VolumeId.DatasetVolume volume) implements ClaimContent {}

        /// It shows none.
        record Other() implements ClaimContent {}
    }

    /// Tells a node of a replica. One that it was told of already is left as it is.
    void writeOrder(String name, DatasetReplica.Order order);

    /// Tells a node that it is wanted, or no more. One that is gone needs nothing.
    void setWanted(OrderedReplica replica, boolean wanted);

    /// Answers a node. One that is gone needs no answer.
    void answer(OrderedReplica replica, DatasetAccess.Answer answer);

    /// Removes what a node was told. That it is gone is success.
    void forget(OrderedReplica replica);

    /// Lets a pod be scheduled, on one of these nodes if it can be.
    ///
    /// @param hostnames none if it does not matter
    /// @return false if it is gone, or somebody has changed it meanwhile
    boolean open(GatedPod pod, List<String> hostnames);

    /// Tells a pod's people.
    void report(GatedPod pod, Notice notice);

    /// Writes down how far what was wanted ahead of time is. One that is gone needs nothing.
    void report(Warmup warmup, Warmup.Status status);

    /// An event of Kubernetes.
    ///
    /// @param warning whether somebody should do something
    record Notice(boolean warning, String reason, String message) {}
}

package dev.siphon.node.replica;

import java.nio.file.Path;

/// The progress of a dataset towards this node's disks.
public sealed interface ReplicaState {
    /// Attached over the image on CephFS; no disk has a replica.
    record Remote() implements ReplicaState {}

    /// A disk has a part of a replica; [FillStage] says whether it is being filled. An attached dataset is read from
    /// CephFS or another replica meanwhile.
    ///
    /// @param percent the share that was written, by the record beside the replica
    record Filling(int percent, Path cache) implements ReplicaState {}

    /// No disk has a whole replica, and the fill waits for its turn in the cluster.
    ///
    /// @param percent the share that was written before
    /// @param before how many fills wait before it
    record Queued(int percent, int before) implements ReplicaState {}

    /// A disk has a whole replica.
    record Local(Path cache) implements ReplicaState {}
}

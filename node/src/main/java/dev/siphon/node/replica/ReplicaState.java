package dev.siphon.node.replica;

import java.nio.file.Path;

/// How far a dataset is on its way to this node's disks.
public sealed interface ReplicaState {
    /// Attached over the image on CephFS, and on no disk.
    record Remote() implements ReplicaState {}

    /// A replica is being filled, or its fill waits for its next try; if attached, then over the image on CephFS.
    ///
    /// @param percent of it that is on the disk and was right when it was written
    record Filling(int percent, Path cache) implements ReplicaState {}

    /// A whole replica is on a disk.
    record Local(Path cache) implements ReplicaState {}
}

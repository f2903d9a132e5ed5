package dev.siphon.node.replica;

/// What the driver does now to make a replica of a dataset.
public sealed interface FillStage {
    /// Nothing: no replica is wanted, or the path of its image is unknown. A part on a disk stays as it is.
    record Idle() implements FillStage {}

    /// A replica is wanted, and its fill is about to begin, or to go on after a restart.
    record Due() implements FillStage {}

    /// The fill waits for its turn in the cluster.
    ///
    /// @param before how many fills wait before it
    record Queued(int before) implements FillStage {}

    /// The fill runs.
    record Running() implements FillStage {}

    /// The last fill failed, and is retried after a pause.
    record Failed(String why) implements FillStage {}
}

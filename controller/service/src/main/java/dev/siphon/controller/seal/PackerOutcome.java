package dev.siphon.controller.seal;

/// The state of a packer, or of the process that reads its image back.
public sealed interface PackerOutcome {
    /// It runs, or is about to start.
    ///
    /// @param progress in words for people
    record Running(String progress) implements PackerOutcome {}

    /// It has not started, and waits for others to end.
    ///
    /// @param progress how many it waits for, in words for people
    record Queued(String progress) implements PackerOutcome {}

    /// It succeeded.
    record Ended() implements PackerOutcome {}

    /// It failed, and is not retried.
    ///
    /// @param why its last output
    /// @param unlike whether it found that an image does not match its manifest
    record Failed(String why, boolean unlike) implements PackerOutcome {}
}

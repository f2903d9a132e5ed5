package dev.siphon.controller.seal;

/// What has become of a packer, or of who reads its image back.
public sealed interface PackerOutcome {
    /// It is at work, or about to be.
    ///
    /// @param progress how far it is, in words for people
    record Running(String progress) implements PackerOutcome {}

    /// It has not begun, and waits for others to end.
    ///
    /// @param progress for how many, in words for people
    record Queued(String progress) implements PackerOutcome {}

    /// It has ended as it should.
    record Ended() implements PackerOutcome {}

    /// It is tried no more.
    ///
    /// @param why its last words
    /// @param unlike whether it has found that an image is not what its manifest says
    record Failed(String why, boolean unlike) implements PackerOutcome {}
}

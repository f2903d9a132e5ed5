package dev.siphon.controller.seal;

/// What has become of a packer.
public sealed interface Packing {
    /// It is at work, or about to be.
    ///
    /// @param progress how far it is, in words for people
    record Running(String progress) implements Packing {}

    /// It has ended as it should.
    record Ended() implements Packing {}

    /// It is tried no more.
    ///
    /// @param why its last words
    record Failed(String why) implements Packing {}
}

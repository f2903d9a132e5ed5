package dev.siphon.csi.check;

/// What came of looking at one thing. Nothing of it holds a secret.
public sealed interface CheckOutcome {
    /// It is as it has to be.
    ///
    /// @param found what there is, in a few words
    record Ok(String found) implements CheckOutcome {}

    /// It is not, and all works nevertheless, worse than it could.
    ///
    /// @param found what is there instead
    /// @param remedy what an administrator can do about it
    record Warned(String found, String remedy) implements CheckOutcome {}

    /// It is not, and something will not work.
    ///
    /// @param found what is wrong
    /// @param remedy what an administrator can do about it
    record Failed(String found, String remedy) implements CheckOutcome {}

    /// It was not looked at.
    ///
    /// @param because what there is not
    record Skipped(String because) implements CheckOutcome {}
}

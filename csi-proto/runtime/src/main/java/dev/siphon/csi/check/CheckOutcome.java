package dev.siphon.csi.check;

/// The result of one check. It holds no secret.
public sealed interface CheckOutcome {
    /// The check passed.
    ///
    /// @param found what was found, in a few words
    record Ok(String found) implements CheckOutcome {}

    /// The check found a problem, but everything works, if less well.
    ///
    /// @param found what was found instead
    /// @param remedy what an administrator can do about it
    record Warned(String found, String remedy) implements CheckOutcome {}

    /// The check found that something will not work.
    ///
    /// @param found what is wrong
    /// @param remedy what an administrator can do about it
    record Failed(String found, String remedy) implements CheckOutcome {}

    /// The check was not run.
    ///
    /// @param because what is missing
    record Skipped(String because) implements CheckOutcome {}
}

package dev.siphon.controller.imports;

import dev.siphon.controller.identity.Account;

/// The next step of a DatasetImport. Each is idempotent.
public sealed interface ImportStep {
    /// Creates the claim, which reserves the room.
    record Reserve() implements ImportStep {}

    /// Creates the Job that fills the volume.
    ///
    /// @param account as which it runs
    record Fetch(Account account) implements ImportStep {}

    /// Creates the VolumeSnapshot, which becomes the dataset.
    record Seal() implements ImportStep {}

    /// Gives the dataset the readers that its owner wants.
    ///
    /// @param account the owner
    record Share(Account account) implements ImportStep {}

    /// Takes away the readers that the owner no longer wants, gives none, and says why. An earlier leader may have
    /// given some that the status lacks.
    record Withdraw(String reason, String message) implements ImportStep {}

    /// Says that the dataset is ready.
    record Finish() implements ImportStep {}

    /// Says how far it is, or what it waits for.
    record Report(ImportStatus.Phase phase, String reason, String message) implements ImportStep {}

    /// Ends the import. The next steps remove what is there of it.
    record Fail(String reason, String message) implements ImportStep {}

    /// Deletes the VolumeSnapshot, and with it the dataset.
    record RemoveSnapshot() implements ImportStep {}

    /// Deletes the Job and its pods.
    record RemoveFetch() implements ImportStep {}

    /// Deletes the claim and its volume.
    record RemoveClaim() implements ImportStep {}

    /// Waits until Kubernetes has deleted something.
    record Await() implements ImportStep {}

    /// Nothing is left to do.
    record Settle() implements ImportStep {}

    /// The dataset is gone or another one, and what is left of the import stays, with nothing left to do.
    record KeepRest(String reason, String message) implements ImportStep {}
}

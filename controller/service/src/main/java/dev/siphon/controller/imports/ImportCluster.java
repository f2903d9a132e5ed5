package dev.siphon.controller.imports;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.imports.ObservedImport.ClaimState;
import dev.siphon.controller.imports.ObservedImport.FetchState;
import dev.siphon.controller.imports.ObservedImport.SealState;
import dev.siphon.csi.BackgroundTasks;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Port: the DatasetImports of a cluster, and what is created for them. All methods are idempotent.
///
/// All of them throw [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if the cluster does not reply,
/// and [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if it refuses, as a ResourceQuota of the
/// namespace does.
///
/// An object counts as the import's only if it names the import's uid as its owner. No other is changed or deleted.
public interface ImportCluster {
    /// Watches the imports until the task is closed.
    BackgroundTasks.Task follow(BackgroundTasks tasks);

    /// Returns all imports that are handled; none if the cluster lacks the kind. Failed ones of which nothing is left
    /// are not among them.
    List<DatasetImport> imports();

    /// An import that is not handled now, because too many have not ended.
    ///
    /// @param why with the limit, for people
    record LeftOut(DatasetImport wanted, String why) {}

    /// Returns some imports that are not handled, and whose status does not say so. Those of the last [#imports].
    List<LeftOut> leftOut();

    /// Returns whether administrators have switched imports on. Read once per pass.
    boolean isOn();

    ClaimState claim(DatasetImport of);

    FetchState fetch(DatasetImport of);

    /// @param dataset the name of the dataset's object, `ACCOUNT.NAME`
    SealState seal(DatasetImport of, String dataset);

    /// Creates the claim.
    void reserve(DatasetImport of);

    /// Creates the Job, which runs as the account.
    void beginFetch(DatasetImport of, Account account);

    /// Creates the VolumeSnapshot.
    void takeSnapshot(DatasetImport of);

    /// Adds readers to a dataset and removes those that this import gave it before; other readers stay.
    ///
    /// @param dataset as for [#seal]
    /// @param before the readers that the import gave it
    /// @param now those that it is to give
    void share(String dataset, Set<String> before, Set<String> now);

    /// Removes the readers of a dataset that the import gave it before and is not to give now; adds none.
    ///
    /// @param dataset as for [#seal]
    /// @param before the readers that the import gave it
    /// @param now those of them that stay
    void withdraw(String dataset, Set<String> before, Set<String> now);

    /// Returns who uses a dataset; empty if it does not exist. Sends no request while datasets are watched.
    Optional<ImportStatus.DatasetUses> uses(String dataset);

    void removeSnapshot(DatasetImport of);

    void removeFetch(DatasetImport of);

    void removeClaim(DatasetImport of);

    /// Writes the status; a deleted import needs none.
    void report(DatasetImport of, ImportStatus status);

    /// Writes an event on the import.
    void tell(DatasetImport of, boolean warning, String reason, String message);
}

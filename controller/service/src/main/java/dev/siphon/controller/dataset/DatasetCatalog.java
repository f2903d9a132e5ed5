package dev.siphon.controller.dataset;

import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Port: the datasets that administrators declared. Nothing is cached.
///
/// All methods throw [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if the backend does not
/// reply, and [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver lacks permission.
public interface DatasetCatalog {
    /// Returns the dataset of that name; empty if there is none.
    ///
    /// @param name as [Dataset#name] returns it
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if its declaration is invalid, or its
    ///     image was read back and does not match its manifest
    Optional<Dataset> find(String name);

    /// All declarations.
    ///
    /// @param datasets the valid ones
    /// @param wrong why [#find] refuses the others, by name
    /// @param seen the recorded accounts behind reader names, by dataset name
    record Declared(List<Dataset> datasets, Map<String, String> wrong, Map<String, ReaderIds> seen) {
        public Declared {
            datasets = List.copyOf(datasets);
            wrong = Map.copyOf(wrong);
            seen = Map.copyOf(seen);
        }

        /// Returns the recorded accounts behind the names of a dataset's readers.
        public ReaderIds readers(String dataset) {
            return seen.getOrDefault(dataset, ReaderIds.NONE);
        }
    }

    /// Returns the accounts that the names of a dataset's readers meant when first seen; none for a deleted
    /// dataset.
    ReaderIds readers(String name);

    /// Records the accounts behind the names of a dataset's readers. Does nothing if the dataset was deleted
    /// meanwhile.
    void note(String name, ReaderIds readers);

    /// What an administrator sees of a dataset.
    ///
    /// @param ready whether volumes can show it
    /// @param message why not
    record DatasetStatus(boolean ready, String message) {}

    /// Writes the status where the author of the declaration sees it. Costs nothing if the status has not changed.
    void report(String name, DatasetStatus state);

    /// Returns all declarations.
    Declared all();
}

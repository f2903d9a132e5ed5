package dev.siphon.controller.dataset;

import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Port: the datasets that administrators have declared. Every answer is of this moment.
///
/// All of it throws [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if there is no answer, and
/// [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver may not look.
public interface DatasetCatalog {
    /// The dataset of that name; empty if there is none.
    ///
    /// @param name as [Dataset#name] gives it
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if what is written of it cannot be,
    ///     or its image was read back and is not what its manifest says
    Optional<Dataset> find(String name);

    /// All that are declared.
    ///
    /// @param datasets those that can be
    /// @param wrong those that [#find] refuses: why, by their names
    /// @param seen whom the names of their readers meant, by the datasets' names
    record Declared(List<Dataset> datasets, Map<String, String> wrong, Map<String, ReaderIds> seen) {
        public Declared {
            datasets = List.copyOf(datasets);
            wrong = Map.copyOf(wrong);
            seen = Map.copyOf(seen);
        }

        /// Whom the names of a dataset's readers meant.
        public ReaderIds readers(String dataset) {
            return seen.getOrDefault(dataset, ReaderIds.NONE);
        }
    }

    /// Whom the names of a dataset's readers meant when they were first seen. One that is gone has none.
    ReaderIds readers(String name);

    /// Writes down whom the names of a dataset's readers mean. One that was deleted meanwhile needs nothing.
    void note(String name, ReaderIds readers);

    /// What an administrator should see of a dataset.
    ///
    /// @param ready whether volumes can show it
    /// @param message why not
    record DatasetStatus(boolean ready, String message) {}

    /// Writes down what has become of a declaration, where whoever wrote it looks. Costs nothing if it is the
    /// same as before.
    void report(String name, DatasetStatus state);

    /// All of them.
    Declared all();
}

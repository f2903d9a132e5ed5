package dev.siphon.controller.dataset;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Port: the datasets that administrators have declared. Every answer is of this moment.
///
/// All of it throws [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if there is no answer, and
/// [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver may not look.
public interface Datasets {
    /// The dataset of that name; empty if there is none.
    ///
    /// @param name as [Dataset#name] gives it
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if what is written of it cannot be
    Optional<Dataset> find(String name);

    /// All that are declared.
    ///
    /// @param datasets those that can be
    /// @param wrong the names of those of which something is written that cannot be; the log says what
    record Declared(List<Dataset> datasets, Set<String> wrong) {
        public Declared {
            datasets = List.copyOf(datasets);
            wrong = Set.copyOf(wrong);
        }
    }

    /// All of them.
    Declared all();
}

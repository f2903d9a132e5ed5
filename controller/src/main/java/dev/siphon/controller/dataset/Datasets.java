package dev.siphon.controller.dataset;

import java.util.List;
import java.util.Optional;

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

    /// All of them; what cannot be read is left out, and said in the log.
    List<Dataset> all();
}

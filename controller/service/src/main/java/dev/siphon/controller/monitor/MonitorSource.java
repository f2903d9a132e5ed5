package dev.siphon.controller.monitor;

import dev.siphon.csi.DriverException;
import java.util.List;

/// Port: the record of a cluster's monitors that is kept by whoever moves them.
public interface MonitorSource {
    /// Returns the present monitors, in the form of `mon_host`; at least one.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the source does not answer
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the driver may not read it
    /// @throws DriverException.NotFound (NOT_FOUND) if it does not exist
    /// @throws DriverException.BackendFault (INTERNAL) if it names no monitor
    List<String> read();

    /// Returns the name of the source, for people.
    String where();
}

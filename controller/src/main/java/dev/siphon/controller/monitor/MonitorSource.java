package dev.siphon.controller.monitor;

import dev.siphon.csi.DriverException;
import java.util.List;

/// Port: where the one who moves a cluster's monitors writes down their addresses.
public interface MonitorSource {
    /// The monitors that are there now, as `mon_host` would name them; at least one.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if there is no answer now
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the driver may not read it
    /// @throws DriverException.NotFound (NOT_FOUND) if it does not exist
    /// @throws DriverException.BackendFault (INTERNAL) if it names no monitor
    List<String> read();

    /// What is read, for people.
    String where();
}

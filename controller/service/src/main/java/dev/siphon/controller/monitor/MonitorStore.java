package dev.siphon.controller.monitor;

import java.util.List;
import java.util.Map;

/// Port: publishes each cluster's present monitors for nodes.
public interface MonitorStore {
    /// Returns what is published; empty if nothing is, or if it is not in this driver's format.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if the store does not answer
    Map<String, List<String>> last();

    /// Publishes the monitors. Idempotent.
    ///
    /// @param monitors by the cluster's id, each in the form of `mon_host`
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if the store does not answer
    void publish(Map<String, List<String>> monitors);
}

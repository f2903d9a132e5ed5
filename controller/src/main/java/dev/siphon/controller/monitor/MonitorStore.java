package dev.siphon.controller.monitor;

import java.util.List;
import java.util.Map;

/// Port: where nodes read which monitors each cluster has now.
public interface MonitorStore {
    /// What is published; empty if nothing is, or something that this driver does not write.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if there is no answer now
    Map<String, List<String>> last();

    /// Publishes it. Repeating it is safe.
    ///
    /// @param monitors by the id of the cluster, each as `mon_host` would name them
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if there is no answer now
    void publish(Map<String, List<String>> monitors);
}

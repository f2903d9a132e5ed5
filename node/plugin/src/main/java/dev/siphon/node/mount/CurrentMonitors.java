package dev.siphon.node.mount;

import dev.siphon.csi.Monitors;

/// Port: the current monitors of clusters. A PersistentVolume keeps the monitors of the time of its creation.
@FunctionalInterface
public interface CurrentMonitors {
    /// Always returns the monitors of the volume.
    CurrentMonitors OF_THE_VOLUME = (_, told) -> told;

    /// Returns the monitors to connect to, within seconds in every case.
    ///
    /// @param cluster the cluster's id
    /// @param told the volume's monitors, returned if nothing newer is known
    Monitors of(String cluster, Monitors told);
}

package dev.siphon.node.mount;

import dev.siphon.csi.Monitors;

/// Port: where the monitors of clusters are now. A PersistentVolume keeps those that there were when it was made.
@FunctionalInterface
public interface CurrentMonitors {
    /// Nobody tells others than those of the volume.
    CurrentMonitors OF_THE_VOLUME = (_, told) -> told;

    /// The monitors to connect to. Answers within seconds, whatever happens.
    ///
    /// @param cluster its id
    /// @param told what the volume says, for a cluster of which nothing newer is known
    Monitors of(String cluster, Monitors told);
}

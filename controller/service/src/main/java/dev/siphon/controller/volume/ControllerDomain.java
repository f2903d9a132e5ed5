package dev.siphon.controller.volume;

import dev.siphon.csi.KeyedOperations;
import java.time.Duration;
import java.util.function.Supplier;

/// The services of the controller, wired together.
public record ControllerDomain(
        Clusters clusters,
        Volumes volumes,
        Snapshots snapshots,
        GroupSnapshots groupSnapshots,
        PublishedNodes attachments,
        VolumeListing listings,
        ClusterVolumeHealth health,
        AvailableCapacity capacities) {
    /// Wires the services over these ports.
    ///
    /// @param owners decides who owns a volume
    /// @param callers keys and grants for the volumes
    /// @param timeLeft returns the time left until the caller's deadline
    public static ControllerDomain over(CephPorts ports, Owners owners, Callers callers, Supplier<Duration> timeLeft) {
        KeyedOperations operations = new KeyedOperations();
        Volumes volumes = new Volumes(ports, owners, callers, operations, timeLeft);
        Snapshots snapshots = new Snapshots(ports, volumes, operations);
        VolumeListing volumeListing = new VolumeListing(ports, volumes, snapshots);
        return new ControllerDomain(
                ports.clusters(),
                volumes,
                snapshots,
                new GroupSnapshots(ports, volumes, snapshots, operations),
                new PublishedNodes(ports, volumes, operations),
                volumeListing,
                new ClusterVolumeHealth(ports, volumes, volumeListing),
                new AvailableCapacity(ports, volumes));
    }

    /// Returns the same services, with the volumes that show datasets.
    ///
    /// @param datasets those that claims may name
    /// @param sealed those that became of snapshots
    public ControllerDomain showing(ClaimedDatasets datasets, SnapshotDatasets sealed) {
        return new ControllerDomain(
                clusters,
                volumes.showing(datasets, sealed),
                snapshots,
                groupSnapshots,
                attachments,
                listings,
                health,
                capacities);
    }
}

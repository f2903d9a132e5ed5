package dev.siphon.controller.volume;

import dev.siphon.csi.KeyedOperations;
import java.time.Duration;
import java.util.function.Supplier;

/// All that the driver can do, put together.
public record Domain(
        Clusters clusters,
        Volumes volumes,
        Snapshots snapshots,
        GroupSnapshots groupSnapshots,
        Attachments attachments,
        Listings listings,
        Health health,
        Capacities capacities) {
    /// The domain over these ports.
    ///
    /// @param owners says who owns a volume
    /// @param callers what those who use volumes need
    /// @param timeLeft what is left of the caller's deadline
    public static Domain over(CephPorts ports, Owners owners, Callers callers, Supplier<Duration> timeLeft) {
        KeyedOperations operations = new KeyedOperations();
        Volumes volumes = new Volumes(ports, owners, callers, operations, timeLeft);
        Snapshots snapshots = new Snapshots(ports, volumes, operations);
        Listings listings = new Listings(ports, volumes, snapshots);
        return new Domain(
                ports.clusters(),
                volumes,
                snapshots,
                new GroupSnapshots(ports, volumes, snapshots, operations),
                new Attachments(ports, volumes, operations),
                listings,
                new Health(ports, volumes, listings),
                new Capacities(ports, volumes));
    }
}

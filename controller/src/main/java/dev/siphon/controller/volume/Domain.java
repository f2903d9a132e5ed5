package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Directory;
import dev.siphon.csi.KeyedOperations;
import java.time.Duration;
import java.util.Optional;
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
    /// @param directory knows the accounts
    /// @param defaultOwner the account for classes that name none
    /// @param keys gives volumes their keys
    /// @param timeLeft what is left of the caller's deadline
    public static Domain over(
            CephPorts ports,
            Directory directory,
            Optional<String> defaultOwner,
            KeyMinting keys,
            Supplier<Duration> timeLeft) {
        KeyedOperations operations = new KeyedOperations();
        Volumes volumes = new Volumes(ports, directory, defaultOwner, keys, operations, timeLeft);
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

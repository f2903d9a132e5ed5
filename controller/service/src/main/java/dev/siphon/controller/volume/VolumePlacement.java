package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import dev.siphon.csi.ContainerUser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.util.List;
import java.util.Optional;

/// Decides where a class puts its volumes: cluster, file system, and the group of the account that owns them.
final class VolumePlacement {
    private final Clusters clusters;
    private final Owners owners;

    VolumePlacement(Clusters clusters, Owners owners) {
        this.clusters = clusters;
        this.owners = owners;
    }

    /// The chosen group and its owner.
    record OwnedGroup(SubvolumeGroup group, Account owner) {}

    /// Chooses the cluster, file system and group for a volume of this class.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if a cluster, file system, data pool or account
    ///     does not exist, a necessary choice is missing, or a container's user would be root
    /// @throws DriverException whatever [Owners#of] throws
    OwnedGroup choose(VolumeClass parameters) {
        String cluster = cluster(parameters);
        Clusters.FileSystem fileSystem = fileSystem(cluster, parameters.fileSystem());
        parameters.dataPool().ifPresent(pool -> {
            if (!fileSystem.dataPools().contains(pool)) {
                throw new DriverException.InvalidRequest("parameter dataPool " + QuotedText.of(pool)
                        + " is not a data pool of file system " + fileSystem.name() + ", which has "
                        + fileSystem.dataPools());
            }
        });
        Account owner = owners.of(parameters);
        checkContainerUser(parameters, owner);
        return new OwnedGroup(SubvolumeGroup.of(cluster, fileSystem.name(), owner), owner);
    }

    /// Returns the cluster that the class names, or the default one.
    String cluster(VolumeClass parameters) {
        String cluster = parameters.cluster().orElseGet(clusters::defaultCluster);
        if (!clusters.ids().contains(cluster)) {
            throw new DriverException.InvalidRequest(
                    "parameter cluster " + QuotedText.of(cluster) + ": the clusters file has " + clusters.ids());
        }
        return cluster;
    }

    /// Returns the file system of that name, or the only one.
    Clusters.FileSystem fileSystem(String cluster, Optional<String> name) {
        List<Clusters.FileSystem> all = clusters.fileSystems(cluster);
        if (name.isEmpty() && all.size() == 1) {
            return all.getFirst();
        }
        List<String> names = all.stream().map(Clusters.FileSystem::name).toList();
        if (name.isEmpty()) {
            throw new DriverException.InvalidRequest(
                    "parameter fsName is needed: cluster " + cluster + " has the file systems " + names);
        }
        return all.stream()
                .filter(each -> each.name().equals(name.get()))
                .findFirst()
                .orElseThrow(() -> new DriverException.InvalidRequest("parameter fsName " + QuotedText.of(name.get())
                        + ": cluster " + cluster + " has the file systems " + names));
    }

    /// Refuses to map a container's user to root; any other account is allowed.
    private static void checkContainerUser(VolumeClass parameters, Account owner) {
        boolean root =
                parameters.uid().orElse(owner.uid()) == 0 || parameters.gid().orElse(owner.gid()) == 0;
        if (root && parameters.containerUser().isPresent()) {
            throw new DriverException.InvalidRequest("parameter " + ContainerUser.KEY + " needs an owner with a uid and"
                    + " a gid of its own, but volumes of " + QuotedText.of(owner.name()) + " belong to root; remove the"
                    + " parameter");
        }
    }
}

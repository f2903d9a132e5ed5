package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// Writes what a node needs to know of a volume.
final class VolumeContextWriter {
    private final Clusters clusters;

    VolumeContextWriter(Clusters clusters) {
        this.clusters = clusters;
    }

    /// For a volume of its own, or a door to a home: the node mounts the group and binds the one data directory of
    /// the subvolume that holds the files, which it finds itself, so that no mgr command has to.
    VolumeContext of(VolumeId.Provisioned volume, VolumeClass parameters, String owner) {
        return context(volume, parameters, owner, Homes.behind(volume).subvolume(), false);
    }

    /// For a volume that is a snapshot.
    VolumeContext ofSnapshot(VolumeId.Provisioned volume, SnapshotId snapshot, VolumeClass parameters, String owner) {
        return context(volume, parameters, owner, snapshot.volume().subvolume() + "/.snap/" + snapshot.name(), true);
    }

    private VolumeContext context(
            VolumeId.Provisioned volume, VolumeClass parameters, String owner, String dataPath, boolean readOnly) {
        return new VolumeContext(
                clusters.monitors(volume.cluster()),
                volume.fileSystem(),
                SubvolumeGroup.of(volume).path(),
                Optional.of(dataPath),
                parameters.mounter(),
                parameters.mountOptions(),
                readOnly,
                Optional.of(owner),
                parameters.containerUser());
    }
}

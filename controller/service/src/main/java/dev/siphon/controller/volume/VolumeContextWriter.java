package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// Builds the context of a volume: what a node needs to know of it.
final class VolumeContextWriter {
    private final Clusters clusters;

    VolumeContextWriter(Clusters clusters) {
        this.clusters = clusters;
    }

    /// Returns the context of a volume with files of its own, or of an alias. The node mounts the group and
    /// bind-mounts the data directory of the subvolume with the files. It finds that directory itself, which saves
    /// a mgr command.
    VolumeContext of(VolumeId.Provisioned volume, VolumeClass parameters, String owner) {
        return context(volume, parameters, owner, Homes.behind(volume).subvolume(), false);
    }

    /// Returns the context of a snapshot-backed volume.
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

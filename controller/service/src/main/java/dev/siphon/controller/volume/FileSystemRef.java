package dev.siphon.controller.volume;

import dev.siphon.csi.VolumeId;

/// Names a file system.
///
/// @param cluster its cluster's id in the clusters file
public record FileSystemRef(String cluster, String fileSystem) {
    public static FileSystemRef of(SubvolumeGroup group) {
        return new FileSystemRef(group.cluster(), group.fileSystem());
    }

    public static FileSystemRef of(VolumeId.Provisioned volume) {
        return new FileSystemRef(volume.cluster(), volume.fileSystem());
    }

    @Override
    public String toString() {
        return "file system " + fileSystem + " of cluster " + cluster;
    }
}

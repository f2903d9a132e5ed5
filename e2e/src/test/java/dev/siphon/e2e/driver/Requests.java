package dev.siphon.e2e.driver;

import csi.v1.CapacityRange;
import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import csi.v1.VolumeContentSource;
import java.util.Map;

/// Requests as a CO makes them.
public final class Requests {
    public static final long MIB = 1L << 20;
    public static final long GIB = 1L << 30;

    private Requests() {}

    /// Returns the capability of a file system mounted in `mode`.
    public static VolumeCapability mount(Mode mode) {
        return VolumeCapability.newBuilder()
                .setMount(VolumeCapability.MountVolume.getDefaultInstance())
                .setAccessMode(VolumeCapability.AccessMode.newBuilder().setMode(mode))
                .build();
    }

    /// Returns the capability of a file system that many nodes write.
    public static VolumeCapability shared() {
        return mount(Mode.MULTI_NODE_MULTI_WRITER);
    }

    /// Returns the request for an empty volume of an account.
    public static CreateVolumeRequest volume(String name, String owner, long bytes) {
        return CreateVolumeRequest.newBuilder()
                .setName(name)
                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(bytes))
                .addVolumeCapabilities(shared())
                .putAllParameters(Map.of("owner", owner))
                .build();
    }

    /// Returns the request for the same volume with the contents of a snapshot.
    public static CreateVolumeRequest fromSnapshot(CreateVolumeRequest volume, String snapshotId) {
        return volume.toBuilder()
                .setVolumeContentSource(VolumeContentSource.newBuilder()
                        .setSnapshot(
                                VolumeContentSource.SnapshotSource.newBuilder().setSnapshotId(snapshotId)))
                .build();
    }

    /// Returns the request for the same volume, of a class that copies another account's data.
    public static CreateVolumeRequest acrossAccounts(CreateVolumeRequest volume) {
        return volume.toBuilder().putParameters("copyAcrossAccounts", "true").build();
    }

    /// Returns the request for the same volume, read-only.
    public static CreateVolumeRequest readOnly(CreateVolumeRequest volume) {
        return volume.toBuilder()
                .clearVolumeCapabilities()
                .addVolumeCapabilities(mount(Mode.MULTI_NODE_READER_ONLY))
                .build();
    }

    /// Returns the request for the same volume with the contents of another one.
    public static CreateVolumeRequest fromVolume(CreateVolumeRequest volume, String volumeId) {
        return volume.toBuilder()
                .setVolumeContentSource(VolumeContentSource.newBuilder()
                        .setVolume(VolumeContentSource.VolumeSource.newBuilder().setVolumeId(volumeId)))
                .build();
    }

    public static DeleteVolumeRequest delete(String volumeId) {
        return DeleteVolumeRequest.newBuilder().setVolumeId(volumeId).build();
    }

    public static CreateSnapshotRequest snapshot(String name, String volumeId) {
        return CreateSnapshotRequest.newBuilder()
                .setName(name)
                .setSourceVolumeId(volumeId)
                .build();
    }

    public static DeleteSnapshotRequest deleteSnapshot(String snapshotId) {
        return DeleteSnapshotRequest.newBuilder().setSnapshotId(snapshotId).build();
    }
}

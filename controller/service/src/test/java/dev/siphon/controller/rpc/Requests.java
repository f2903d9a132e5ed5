package dev.siphon.controller.rpc;

import csi.v1.CapacityRange;
import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;

/// Creates requests like those of a sidecar.
final class Requests {
    static final long GIB = 1L << 30;

    private Requests() {}

    static VolumeCapability mount(Mode mode) {
        return VolumeCapability.newBuilder()
                .setMount(VolumeCapability.MountVolume.getDefaultInstance())
                .setAccessMode(VolumeCapability.AccessMode.newBuilder().setMode(mode))
                .build();
    }

    static VolumeCapability.Builder writer() {
        return mount(Mode.SINGLE_NODE_WRITER).toBuilder();
    }

    static VolumeCapability block() {
        return VolumeCapability.newBuilder()
                .setBlock(VolumeCapability.BlockVolume.getDefaultInstance())
                .setAccessMode(VolumeCapability.AccessMode.newBuilder().setMode(Mode.SINGLE_NODE_WRITER))
                .build();
    }

    static CreateVolumeRequest.Builder createVolume(String name) {
        return CreateVolumeRequest.newBuilder()
                .setName(name)
                .addVolumeCapabilities(writer())
                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(GIB))
                .putParameters("owner", "u1");
    }

    static CreateSnapshotRequest.Builder createSnapshot(String volume, String name) {
        return CreateSnapshotRequest.newBuilder().setSourceVolumeId(volume).setName(name);
    }
}

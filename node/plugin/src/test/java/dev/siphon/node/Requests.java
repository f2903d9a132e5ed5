package dev.siphon.node;

import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.node.pod.Pod;
import java.nio.file.Path;
import java.util.List;

/// Creates requests like those of a CO.
public final class Requests {
    private Requests() {}

    public static VolumeCapability capability(Mode mode, String... flags) {
        return VolumeCapability.newBuilder()
                .setMount(VolumeCapability.MountVolume.newBuilder().addAllMountFlags(List.of(flags)))
                .setAccessMode(VolumeCapability.AccessMode.newBuilder().setMode(mode))
                .build();
    }

    public static NodeStageVolumeRequest stage(Lab.Volume volume, Path staging, Mode mode, String... flags) {
        return NodeStageVolumeRequest.newBuilder()
                .setVolumeId(volume.id().toString())
                .setStagingTargetPath(staging.toString())
                .setVolumeCapability(capability(mode, flags))
                .putAllVolumeContext(volume.context())
                .putAllSecrets(volume.secrets())
                .build();
    }

    public static NodeStageVolumeRequest stage(Lab.Volume volume, Path staging) {
        return stage(volume, staging, Mode.MULTI_NODE_MULTI_WRITER);
    }

    public static NodePublishVolumeRequest publish(
            Lab.Volume volume, Path staging, Path target, Mode mode, String... flags) {
        return NodePublishVolumeRequest.newBuilder()
                .setVolumeId(volume.id().toString())
                .setStagingTargetPath(staging.toString())
                .setTargetPath(target.toString())
                .setVolumeCapability(capability(mode, flags))
                .putAllVolumeContext(volume.context())
                .build();
    }

    public static NodePublishVolumeRequest publish(Lab.Volume volume, Path staging, Path target) {
        return publish(volume, staging, target, Mode.MULTI_NODE_MULTI_WRITER);
    }

    /// Returns the request of a kubelet for pod `train` of a namespace, with the volume's Secret. The node does not
    /// ask the controller about a dataset whose Secret has a key.
    public static NodePublishVolumeRequest publishForPod(
            Lab.Volume volume, Path staging, Path target, Mode mode, String namespace) {
        return publish(volume, staging, target, mode).toBuilder()
                .putAllSecrets(volume.secrets())
                .putVolumeContext(Pod.NAMESPACE, namespace)
                .putVolumeContext(Pod.NAME, "train")
                .putVolumeContext(Pod.UID, "17")
                .build();
    }

    public static NodeUnpublishVolumeRequest unpublish(Lab.Volume volume, Path target) {
        return NodeUnpublishVolumeRequest.newBuilder()
                .setVolumeId(volume.id().toString())
                .setTargetPath(target.toString())
                .build();
    }

    public static NodeUnstageVolumeRequest unstage(Lab.Volume volume, Path staging) {
        return NodeUnstageVolumeRequest.newBuilder()
                .setVolumeId(volume.id().toString())
                .setStagingTargetPath(staging.toString())
                .build();
    }

    public static NodeGetVolumeStatsRequest stats(Lab.Volume volume, Path path) {
        return NodeGetVolumeStatsRequest.newBuilder()
                .setVolumeId(volume.id().toString())
                .setVolumePath(path.toString())
                .build();
    }
}

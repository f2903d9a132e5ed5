package dev.siphon.node.rpc;

import csi.v1.NodeExpandVolumeRequest;
import csi.v1.NodeExpandVolumeResponse;
import csi.v1.NodeGetCapabilitiesRequest;
import csi.v1.NodeGetCapabilitiesResponse;
import csi.v1.NodeGetInfoRequest;
import csi.v1.NodeGetInfoResponse;
import csi.v1.NodeGetStorageHealthRequest;
import csi.v1.NodeGetStorageHealthResponse;
import csi.v1.NodeGetVolumeHealthRequest;
import csi.v1.NodeGetVolumeHealthResponse;
import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.NodeGetVolumeStatsResponse;
import csi.v1.NodeGrpc;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodePublishVolumeResponse;
import csi.v1.NodeServiceCapability;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeStageVolumeResponse;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnpublishVolumeResponse;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.NodeUnstageVolumeResponse;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.server.Deadlines;
import dev.siphon.csi.server.UnaryCall;
import dev.siphon.node.device.DatasetPlacement;
import dev.siphon.node.grant.PublishCheck;
import dev.siphon.node.inline.Inline;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.pod.PodHealth;
import io.grpc.stub.StreamObserver;
import java.util.List;

/// The node service of CSI v1.13. Not offered are VOLUME_MOUNT_GROUP, because CephFS has no gid option, and
/// topology, because every node can reach CephFS.
public final class NodeService extends NodeGrpc.NodeImplBase {
    private static final List<NodeServiceCapability.RPC.Type> CAPABILITIES = List.of(
            NodeServiceCapability.RPC.Type.STAGE_UNSTAGE_VOLUME,
            NodeServiceCapability.RPC.Type.GET_VOLUME_STATS,
            NodeServiceCapability.RPC.Type.EXPAND_VOLUME,
            NodeServiceCapability.RPC.Type.SINGLE_NODE_MULTI_WRITER,
            NodeServiceCapability.RPC.Type.GET_VOLUME_HEALTH,
            NodeServiceCapability.RPC.Type.GET_STORAGE_HEALTH);

    private final NodeId id;
    private final long maxVolumes;
    private final NodeMountHandler mountCalls;
    private final NodeHealthHandler lookCalls;

    /// @param maxVolumes how many volumes the CO may publish on this node; 0 for no limit
    /// @param check decides whether a pod may use a volume
    /// @param placement places datasets near the GPUs of their pods
    /// @param pods reports to pods that a volume no longer answers
    public NodeService(
            NodeId id,
            long maxVolumes,
            NodeVolumes volumes,
            PublishCheck check,
            Inline inline,
            DatasetPlacement placement,
            PodHealth pods,
            Deadlines deadlines) {
        this.id = id;
        this.maxVolumes = maxVolumes;
        InlineVolumeHandler inlineCalls = new InlineVolumeHandler(volumes, inline, placement, deadlines);
        this.mountCalls = new NodeMountHandler(volumes, check, inlineCalls, placement, pods, deadlines);
        this.lookCalls = new NodeHealthHandler(volumes, check, inlineCalls, pods, deadlines);
    }

    @Override
    public void nodeStageVolume(NodeStageVolumeRequest request, StreamObserver<NodeStageVolumeResponse> observer) {
        UnaryCall.reply(observer, () -> mountCalls.stage(request));
    }

    @Override
    public void nodeUnstageVolume(
            NodeUnstageVolumeRequest request, StreamObserver<NodeUnstageVolumeResponse> observer) {
        UnaryCall.reply(observer, () -> mountCalls.unstage(request));
    }

    @Override
    public void nodePublishVolume(
            NodePublishVolumeRequest request, StreamObserver<NodePublishVolumeResponse> observer) {
        UnaryCall.reply(observer, () -> mountCalls.publish(request));
    }

    @Override
    public void nodeUnpublishVolume(
            NodeUnpublishVolumeRequest request, StreamObserver<NodeUnpublishVolumeResponse> observer) {
        UnaryCall.reply(observer, () -> mountCalls.unpublish(request));
    }

    @Override
    public void nodeGetVolumeStats(
            NodeGetVolumeStatsRequest request, StreamObserver<NodeGetVolumeStatsResponse> observer) {
        UnaryCall.reply(observer, () -> lookCalls.stats(request));
    }

    @Override
    public void nodeExpandVolume(NodeExpandVolumeRequest request, StreamObserver<NodeExpandVolumeResponse> observer) {
        UnaryCall.reply(observer, () -> lookCalls.expand(request));
    }

    @Override
    public void nodeGetVolumeHealth(
            NodeGetVolumeHealthRequest request, StreamObserver<NodeGetVolumeHealthResponse> observer) {
        UnaryCall.reply(observer, () -> lookCalls.volumeHealth(request));
    }

    @Override
    public void nodeGetStorageHealth(
            NodeGetStorageHealthRequest request, StreamObserver<NodeGetStorageHealthResponse> observer) {
        UnaryCall.reply(observer, () -> lookCalls.storageHealth(request));
    }

    @Override
    public void nodeGetCapabilities(
            NodeGetCapabilitiesRequest request, StreamObserver<NodeGetCapabilitiesResponse> observer) {
        UnaryCall.reply(
                observer,
                () -> NodeGetCapabilitiesResponse.newBuilder()
                        .addAllCapabilities(CAPABILITIES.stream()
                                .map(NodeService::capability)
                                .toList())
                        .build());
    }

    private static NodeServiceCapability capability(NodeServiceCapability.RPC.Type type) {
        return NodeServiceCapability.newBuilder()
                .setRpc(NodeServiceCapability.RPC.newBuilder().setType(type))
                .build();
    }

    @Override
    public void nodeGetInfo(NodeGetInfoRequest request, StreamObserver<NodeGetInfoResponse> observer) {
        UnaryCall.reply(
                observer,
                () -> NodeGetInfoResponse.newBuilder()
                        .setNodeId(id.toString())
                        .setMaxVolumesPerNode(maxVolumes)
                        .build());
    }
}

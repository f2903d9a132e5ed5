package dev.siphon.e2e.noop;

import csi.v1.NodeGetCapabilitiesRequest;
import csi.v1.NodeGetCapabilitiesResponse;
import csi.v1.NodeGetInfoRequest;
import csi.v1.NodeGetInfoResponse;
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
import dev.siphon.csi.server.UnaryCall;
import dev.siphon.node.linux.MountSyscalls;
import dev.siphon.node.linux.MountTable;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// Gives each pod a world-writable tmpfs: one system call. Its stage step does nothing, so that the kubelet makes
/// the same calls as for Siphon.
public final class NoopNode extends NodeGrpc.NodeImplBase {
    /// The source of its mounts in the mount table.
    public static final String SOURCE = "noop";

    @Override
    public void nodeStageVolume(NodeStageVolumeRequest request, StreamObserver<NodeStageVolumeResponse> observer) {
        UnaryCall.reply(observer, NodeStageVolumeResponse::getDefaultInstance);
    }

    @Override
    public void nodeUnstageVolume(
            NodeUnstageVolumeRequest request, StreamObserver<NodeUnstageVolumeResponse> observer) {
        UnaryCall.reply(observer, NodeUnstageVolumeResponse::getDefaultInstance);
    }

    @Override
    public void nodePublishVolume(
            NodePublishVolumeRequest request, StreamObserver<NodePublishVolumeResponse> observer) {
        UnaryCall.reply(observer, () -> {
            publish(request.getTargetPath());
            return NodePublishVolumeResponse.getDefaultInstance();
        });
    }

    @Override
    public void nodeUnpublishVolume(
            NodeUnpublishVolumeRequest request, StreamObserver<NodeUnpublishVolumeResponse> observer) {
        UnaryCall.reply(observer, () -> {
            unpublish(request.getTargetPath());
            return NodeUnpublishVolumeResponse.getDefaultInstance();
        });
    }

    private static void publish(String target) {
        try {
            Files.createDirectories(Path.of(target));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (MountTable.read().at(target).isEmpty()) {
            MountSyscalls.mount(SOURCE, target, "tmpfs", List.of(), List.of(), "mode=0777,size=1m");
        }
    }

    private static void unpublish(String target) {
        if (MountTable.read().at(target).isPresent()) {
            MountSyscalls.unmount(target);
        }
        try {
            Files.deleteIfExists(Path.of(target));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void nodeGetCapabilities(
            NodeGetCapabilitiesRequest request, StreamObserver<NodeGetCapabilitiesResponse> observer) {
        UnaryCall.reply(
                observer,
                () -> NodeGetCapabilitiesResponse.newBuilder()
                        .addCapabilities(NodeServiceCapability.newBuilder()
                                .setRpc(NodeServiceCapability.RPC
                                        .newBuilder()
                                        .setType(NodeServiceCapability.RPC.Type.STAGE_UNSTAGE_VOLUME)))
                        .build());
    }

    @Override
    public void nodeGetInfo(NodeGetInfoRequest request, StreamObserver<NodeGetInfoResponse> observer) {
        UnaryCall.reply(
                observer,
                () -> NodeGetInfoResponse.newBuilder().setNodeId(SOURCE).build());
    }
}

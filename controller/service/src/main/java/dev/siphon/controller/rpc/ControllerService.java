package dev.siphon.controller.rpc;

import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerExpandVolumeResponse;
import csi.v1.ControllerGetCapabilitiesRequest;
import csi.v1.ControllerGetCapabilitiesResponse;
import csi.v1.ControllerGetVolumeHealthRequest;
import csi.v1.ControllerGetVolumeHealthResponse;
import csi.v1.ControllerGetVolumeRequest;
import csi.v1.ControllerGetVolumeResponse;
import csi.v1.ControllerGrpc;
import csi.v1.ControllerListVolumeHealthRequest;
import csi.v1.ControllerListVolumeHealthResponse;
import csi.v1.ControllerModifyVolumeRequest;
import csi.v1.ControllerModifyVolumeResponse;
import csi.v1.ControllerPublishVolumeRequest;
import csi.v1.ControllerPublishVolumeResponse;
import csi.v1.ControllerServiceCapability;
import csi.v1.ControllerUnpublishVolumeRequest;
import csi.v1.ControllerUnpublishVolumeResponse;
import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateSnapshotResponse;
import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.DeleteSnapshotResponse;
import csi.v1.DeleteVolumeRequest;
import csi.v1.DeleteVolumeResponse;
import csi.v1.GetCapacityRequest;
import csi.v1.GetCapacityResponse;
import csi.v1.GetSnapshotRequest;
import csi.v1.GetSnapshotResponse;
import csi.v1.ListSnapshotsRequest;
import csi.v1.ListSnapshotsResponse;
import csi.v1.ListVolumesRequest;
import csi.v1.ListVolumesResponse;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.ValidateVolumeCapabilitiesResponse;
import dev.siphon.controller.seal.SealedSnapshots;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.PublishedNodes;
import dev.siphon.csi.server.UnaryCall;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The CSI Controller service: passes each RPC to its handler.
public final class ControllerService extends ControllerGrpc.ControllerImplBase {
    private final List<ControllerServiceCapability.RPC.Type> capabilities;
    private final CreateVolumeHandler create;
    private final VolumeHandler volume;
    private final PublishHandler publish;
    private final ValidateHandler validate;
    private final ListVolumesHandler list;
    private final SnapshotHandler snapshot;

    /// @param attach whether volumes are attached to nodes before use
    /// @param sealed snapshots that become datasets; empty if nothing can seal them
    public ControllerService(ControllerDomain domain, boolean attach, Optional<SealedSnapshots> sealed) {
        RequestIds ids = new RequestIds(domain.clusters());
        Optional<PublishedNodes> attachments = attach ? Optional.of(domain.attachments()) : Optional.empty();
        capabilities = capabilities(attach);
        create = new CreateVolumeHandler(domain.volumes(), ids);
        volume = new VolumeHandler(domain.volumes(), domain.capacities(), attachments, ids);
        publish = new PublishHandler(attachments, ids);
        validate = new ValidateHandler(domain.volumes(), ids);
        list = new ListVolumesHandler(domain.listings(), domain.health(), attachments, ids);
        snapshot = new SnapshotHandler(domain.snapshots(), sealed, domain.listings(), ids);
    }

    private static List<ControllerServiceCapability.RPC.Type> capabilities(boolean attach) {
        List<ControllerServiceCapability.RPC.Type> types = new ArrayList<>(List.of(
                ControllerServiceCapability.RPC.Type.CREATE_DELETE_VOLUME,
                ControllerServiceCapability.RPC.Type.LIST_VOLUMES,
                ControllerServiceCapability.RPC.Type.GET_CAPACITY,
                ControllerServiceCapability.RPC.Type.CREATE_DELETE_SNAPSHOT,
                ControllerServiceCapability.RPC.Type.LIST_SNAPSHOTS,
                ControllerServiceCapability.RPC.Type.CLONE_VOLUME,
                ControllerServiceCapability.RPC.Type.EXPAND_VOLUME,
                ControllerServiceCapability.RPC.Type.GET_VOLUME,
                ControllerServiceCapability.RPC.Type.SINGLE_NODE_MULTI_WRITER,
                ControllerServiceCapability.RPC.Type.MODIFY_VOLUME,
                ControllerServiceCapability.RPC.Type.GET_SNAPSHOT,
                ControllerServiceCapability.RPC.Type.GET_VOLUME_HEALTH,
                ControllerServiceCapability.RPC.Type.LIST_VOLUME_HEALTH));
        if (attach) {
            types.addAll(List.of(
                    ControllerServiceCapability.RPC.Type.PUBLISH_UNPUBLISH_VOLUME,
                    ControllerServiceCapability.RPC.Type.PUBLISH_READONLY,
                    ControllerServiceCapability.RPC.Type.LIST_VOLUMES_PUBLISHED_NODES));
        }
        return List.copyOf(types);
    }

    @Override
    public void controllerGetCapabilities(
            ControllerGetCapabilitiesRequest request, StreamObserver<ControllerGetCapabilitiesResponse> observer) {
        UnaryCall.reply(
                observer,
                () -> ControllerGetCapabilitiesResponse.newBuilder()
                        .addAllCapabilities(capabilities.stream()
                                .map(type -> ControllerServiceCapability.newBuilder()
                                        .setRpc(ControllerServiceCapability.RPC
                                                .newBuilder()
                                                .setType(type))
                                        .build())
                                .toList())
                        .build());
    }

    @Override
    public void createVolume(CreateVolumeRequest request, StreamObserver<CreateVolumeResponse> observer) {
        UnaryCall.reply(observer, () -> create.handle(request));
    }

    @Override
    public void deleteVolume(DeleteVolumeRequest request, StreamObserver<DeleteVolumeResponse> observer) {
        UnaryCall.reply(observer, () -> volume.delete(request));
    }

    @Override
    public void controllerPublishVolume(
            ControllerPublishVolumeRequest request, StreamObserver<ControllerPublishVolumeResponse> observer) {
        UnaryCall.reply(observer, () -> publish.publish(request));
    }

    @Override
    public void controllerUnpublishVolume(
            ControllerUnpublishVolumeRequest request, StreamObserver<ControllerUnpublishVolumeResponse> observer) {
        UnaryCall.reply(observer, () -> publish.unpublish(request));
    }

    @Override
    public void validateVolumeCapabilities(
            ValidateVolumeCapabilitiesRequest request, StreamObserver<ValidateVolumeCapabilitiesResponse> observer) {
        UnaryCall.reply(observer, () -> validate.handle(request));
    }

    @Override
    public void listVolumes(ListVolumesRequest request, StreamObserver<ListVolumesResponse> observer) {
        UnaryCall.reply(observer, () -> list.list(request));
    }

    @Override
    public void controllerListVolumeHealth(
            ControllerListVolumeHealthRequest request, StreamObserver<ControllerListVolumeHealthResponse> observer) {
        UnaryCall.reply(observer, () -> list.listHealth(request));
    }

    @Override
    public void controllerGetVolumeHealth(
            ControllerGetVolumeHealthRequest request, StreamObserver<ControllerGetVolumeHealthResponse> observer) {
        UnaryCall.reply(observer, () -> list.health(request));
    }

    @Override
    public void getCapacity(GetCapacityRequest request, StreamObserver<GetCapacityResponse> observer) {
        UnaryCall.reply(observer, () -> volume.capacity(request));
    }

    @Override
    public void createSnapshot(CreateSnapshotRequest request, StreamObserver<CreateSnapshotResponse> observer) {
        UnaryCall.reply(observer, () -> snapshot.create(request));
    }

    @Override
    public void deleteSnapshot(DeleteSnapshotRequest request, StreamObserver<DeleteSnapshotResponse> observer) {
        UnaryCall.reply(observer, () -> snapshot.delete(request));
    }

    @Override
    public void listSnapshots(ListSnapshotsRequest request, StreamObserver<ListSnapshotsResponse> observer) {
        UnaryCall.reply(observer, () -> snapshot.list(request));
    }

    @Override
    public void getSnapshot(GetSnapshotRequest request, StreamObserver<GetSnapshotResponse> observer) {
        UnaryCall.reply(observer, () -> snapshot.get(request));
    }

    @Override
    public void controllerExpandVolume(
            ControllerExpandVolumeRequest request, StreamObserver<ControllerExpandVolumeResponse> observer) {
        UnaryCall.reply(observer, () -> volume.expand(request));
    }

    @Override
    public void controllerGetVolume(
            ControllerGetVolumeRequest request, StreamObserver<ControllerGetVolumeResponse> observer) {
        UnaryCall.reply(observer, () -> volume.get(request));
    }

    @Override
    public void controllerModifyVolume(
            ControllerModifyVolumeRequest request, StreamObserver<ControllerModifyVolumeResponse> observer) {
        UnaryCall.reply(observer, () -> volume.modify(request));
    }
}

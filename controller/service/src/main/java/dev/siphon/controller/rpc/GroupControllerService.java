package dev.siphon.controller.rpc;

import csi.v1.CreateVolumeGroupSnapshotRequest;
import csi.v1.CreateVolumeGroupSnapshotResponse;
import csi.v1.DeleteVolumeGroupSnapshotRequest;
import csi.v1.DeleteVolumeGroupSnapshotResponse;
import csi.v1.GetVolumeGroupSnapshotRequest;
import csi.v1.GetVolumeGroupSnapshotResponse;
import csi.v1.GroupControllerGetCapabilitiesRequest;
import csi.v1.GroupControllerGetCapabilitiesResponse;
import csi.v1.GroupControllerGrpc;
import csi.v1.GroupControllerServiceCapability;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.csi.server.UnaryCall;
import io.grpc.stub.StreamObserver;

/// The CSI GroupController service: passes each RPC to its handler.
public final class GroupControllerService extends GroupControllerGrpc.GroupControllerImplBase {
    private final GroupSnapshotHandler handler;

    public GroupControllerService(ControllerDomain domain) {
        handler = new GroupSnapshotHandler(domain.groupSnapshots(), new RequestIds(domain.clusters()));
    }

    @Override
    public void groupControllerGetCapabilities(
            GroupControllerGetCapabilitiesRequest request,
            StreamObserver<GroupControllerGetCapabilitiesResponse> observer) {
        UnaryCall.reply(
                observer,
                () -> GroupControllerGetCapabilitiesResponse.newBuilder()
                        .addCapabilities(GroupControllerServiceCapability.newBuilder()
                                .setRpc(GroupControllerServiceCapability.RPC
                                        .newBuilder()
                                        .setType(
                                                GroupControllerServiceCapability.RPC
                                                        .Type
                                                        .CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT)))
                        .build());
    }

    @Override
    public void createVolumeGroupSnapshot(
            CreateVolumeGroupSnapshotRequest request, StreamObserver<CreateVolumeGroupSnapshotResponse> observer) {
        UnaryCall.reply(observer, () -> handler.create(request));
    }

    @Override
    public void deleteVolumeGroupSnapshot(
            DeleteVolumeGroupSnapshotRequest request, StreamObserver<DeleteVolumeGroupSnapshotResponse> observer) {
        UnaryCall.reply(observer, () -> handler.delete(request));
    }

    @Override
    public void getVolumeGroupSnapshot(
            GetVolumeGroupSnapshotRequest request, StreamObserver<GetVolumeGroupSnapshotResponse> observer) {
        UnaryCall.reply(observer, () -> handler.get(request));
    }
}

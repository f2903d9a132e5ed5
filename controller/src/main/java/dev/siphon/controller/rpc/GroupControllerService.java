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
import dev.siphon.controller.volume.Domain;
import dev.siphon.csi.server.Unary;
import io.grpc.stub.StreamObserver;

/// CSI GroupController: hands each RPC to its handler.
public final class GroupControllerService extends GroupControllerGrpc.GroupControllerImplBase {
    private final GroupSnapshotHandler handler;

    public GroupControllerService(Domain domain) {
        handler = new GroupSnapshotHandler(domain.groupSnapshots(), new Ids(domain.clusters()));
    }

    @Override
    public void groupControllerGetCapabilities(
            GroupControllerGetCapabilitiesRequest request,
            StreamObserver<GroupControllerGetCapabilitiesResponse> observer) {
        Unary.reply(
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
        Unary.reply(observer, () -> handler.create(request));
    }

    @Override
    public void deleteVolumeGroupSnapshot(
            DeleteVolumeGroupSnapshotRequest request, StreamObserver<DeleteVolumeGroupSnapshotResponse> observer) {
        Unary.reply(observer, () -> handler.delete(request));
    }

    @Override
    public void getVolumeGroupSnapshot(
            GetVolumeGroupSnapshotRequest request, StreamObserver<GetVolumeGroupSnapshotResponse> observer) {
        Unary.reply(observer, () -> handler.get(request));
    }
}

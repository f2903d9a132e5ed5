package dev.siphon.e2e.noop;

import csi.v1.ControllerGetCapabilitiesRequest;
import csi.v1.ControllerGetCapabilitiesResponse;
import csi.v1.ControllerGrpc;
import csi.v1.ControllerServiceCapability;
import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.DeleteVolumeRequest;
import csi.v1.DeleteVolumeResponse;
import csi.v1.Volume;
import dev.siphon.csi.server.UnaryCall;
import io.grpc.stub.StreamObserver;

/// Replies with volumes that consist of a name only.
final class NoopController extends ControllerGrpc.ControllerImplBase {
    @Override
    public void createVolume(CreateVolumeRequest request, StreamObserver<CreateVolumeResponse> observer) {
        UnaryCall.reply(
                observer,
                () -> CreateVolumeResponse.newBuilder()
                        .setVolume(Volume.newBuilder()
                                .setVolumeId(request.getName())
                                .setCapacityBytes(request.getCapacityRange().getRequiredBytes()))
                        .build());
    }

    @Override
    public void deleteVolume(DeleteVolumeRequest request, StreamObserver<DeleteVolumeResponse> observer) {
        UnaryCall.reply(observer, DeleteVolumeResponse::getDefaultInstance);
    }

    @Override
    public void controllerGetCapabilities(
            ControllerGetCapabilitiesRequest request, StreamObserver<ControllerGetCapabilitiesResponse> observer) {
        UnaryCall.reply(
                observer,
                () -> ControllerGetCapabilitiesResponse.newBuilder()
                        .addCapabilities(ControllerServiceCapability.newBuilder()
                                .setRpc(ControllerServiceCapability.RPC
                                        .newBuilder()
                                        .setType(ControllerServiceCapability.RPC.Type.CREATE_DELETE_VOLUME)))
                        .build());
    }
}

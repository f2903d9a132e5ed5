package dev.siphon.csi.server;

import com.google.protobuf.BoolValue;
import csi.v1.GetPluginCapabilitiesRequest;
import csi.v1.GetPluginCapabilitiesResponse;
import csi.v1.GetPluginInfoRequest;
import csi.v1.GetPluginInfoResponse;
import csi.v1.IdentityGrpc;
import csi.v1.PluginCapability;
import csi.v1.ProbeRequest;
import csi.v1.ProbeResponse;
import io.grpc.stub.StreamObserver;
import java.util.List;

/// The CSI Identity service. Both processes share it; only their offers differ.
public final class IdentityService extends IdentityGrpc.IdentityImplBase {
    private final DriverName name;
    private final BuildInfo build;
    private final List<Offer> offers;
    private final Readiness readiness;

    /// The driver's capabilities beyond Identity and Node (CSI v1.13, `PluginCapability`).
    public enum Offer {
        CONTROLLER_SERVICE,
        GROUP_CONTROLLER_SERVICE,
        /// volumes can be expanded while they are mounted
        ONLINE_EXPANSION;

        private PluginCapability toProto() {
            return switch (this) {
                case CONTROLLER_SERVICE -> service(PluginCapability.Service.Type.CONTROLLER_SERVICE);
                case GROUP_CONTROLLER_SERVICE -> service(PluginCapability.Service.Type.GROUP_CONTROLLER_SERVICE);
                case ONLINE_EXPANSION ->
                    PluginCapability.newBuilder()
                            .setVolumeExpansion(PluginCapability.VolumeExpansion.newBuilder()
                                    .setType(PluginCapability.VolumeExpansion.Type.ONLINE))
                            .build();
            };
        }

        private static PluginCapability service(PluginCapability.Service.Type type) {
            return PluginCapability.newBuilder()
                    .setService(PluginCapability.Service.newBuilder().setType(type))
                    .build();
        }
    }

    public IdentityService(DriverName name, BuildInfo build, List<Offer> offers, Readiness readiness) {
        this.name = name;
        this.build = build;
        this.offers = List.copyOf(offers);
        this.readiness = readiness;
    }

    @Override
    public void getPluginInfo(GetPluginInfoRequest request, StreamObserver<GetPluginInfoResponse> observer) {
        UnaryCall.reply(
                observer,
                () -> GetPluginInfoResponse.newBuilder()
                        .setName(name.value())
                        .setVendorVersion(build.version())
                        .putManifest("revision", build.revision())
                        .build());
    }

    @Override
    public void getPluginCapabilities(
            GetPluginCapabilitiesRequest request, StreamObserver<GetPluginCapabilitiesResponse> observer) {
        UnaryCall.reply(
                observer,
                () -> GetPluginCapabilitiesResponse.newBuilder()
                        .addAllCapabilities(offers.stream().map(Offer::toProto).toList())
                        .build());
    }

    @Override
    public void probe(ProbeRequest request, StreamObserver<ProbeResponse> observer) {
        UnaryCall.reply(
                observer,
                () -> ProbeResponse.newBuilder()
                        .setReady(BoolValue.of(readiness.state().ready()))
                        .build());
    }
}

package dev.siphon.node.rpc;

import dev.siphon.csi.server.ErrorMapping;
import dev.siphon.csi.server.UnaryCall;
import dev.siphon.csi.server.UnixSocketServer;
import dev.siphon.node.registration.KubeletPlugin;
import dev.siphon.node.registration.Registration;
import io.grpc.stub.StreamObserver;
import java.util.List;
import pluginregistration.v1.InfoRequest;
import pluginregistration.v1.PluginInfo;
import pluginregistration.v1.RegistrationGrpc;
import pluginregistration.v1.RegistrationStatus;
import pluginregistration.v1.RegistrationStatusResponse;

/// Serves the RPCs by which the kubelet registers this driver (plugin registration, version 1).
public final class RegistrationService extends RegistrationGrpc.RegistrationImplBase {
    /// `k8s.io/kubelet/pkg/apis/pluginregistration/v1/constants.go`
    private static final String TYPE = "CSIPlugin";

    /// For the kubelet, which distinguishes nothing finer than 1.x (`pkg/volume/csi`, `highestSupportedVersion`).
    private static final String CSI_VERSION = "1.0.0";

    private final KubeletPlugin plugin;
    private final Registration registration;

    /// @param registration receives the kubelet's status
    public RegistrationService(Registration registration) {
        this.plugin = registration.plugin();
        this.registration = registration;
    }

    /// Serves on the plugin's socket.
    ///
    /// @throws dev.siphon.csi.server.StartFailure as [UnixSocketServer#start]
    public Registration.ServedSocket serve() {
        UnixSocketServer server =
                UnixSocketServer.start(plugin.socket(), List.of(bindService()), List.of(new ErrorMapping()));
        return new Registration.ServedSocket() {
            @Override
            public boolean isInPlace() {
                return server.isInPlace();
            }

            @Override
            public void close() {
                server.close();
            }
        };
    }

    @Override
    public void getInfo(InfoRequest request, StreamObserver<PluginInfo> observer) {
        UnaryCall.reply(
                observer,
                () -> PluginInfo.newBuilder()
                        .setType(TYPE)
                        .setName(plugin.name().value())
                        .setEndpoint(plugin.endpoint().toString())
                        .addSupportedVersions(CSI_VERSION)
                        .build());
    }

    @Override
    public void notifyRegistrationStatus(
            RegistrationStatus request, StreamObserver<RegistrationStatusResponse> observer) {
        UnaryCall.reply(observer, () -> {
            if (request.getPluginRegistered()) {
                registration.accepted();
            } else {
                registration.refused(request.getError());
            }
            return RegistrationStatusResponse.getDefaultInstance();
        });
    }
}

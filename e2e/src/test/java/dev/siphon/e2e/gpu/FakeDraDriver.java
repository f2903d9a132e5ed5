package dev.siphon.e2e.gpu;

import dev.siphon.csi.server.JsonLogging;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.csi.server.UnixSocketServer;
import draplugin.v1.Claim;
import draplugin.v1.DRAPluginGrpc;
import draplugin.v1.NodePrepareResourceResponse;
import draplugin.v1.NodePrepareResourcesRequest;
import draplugin.v1.NodePrepareResourcesResponse;
import draplugin.v1.NodeUnprepareResourceResponse;
import draplugin.v1.NodeUnprepareResourcesRequest;
import draplugin.v1.NodeUnprepareResourcesResponse;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import pluginregistration.v1.InfoRequest;
import pluginregistration.v1.PluginInfo;
import pluginregistration.v1.RegistrationGrpc;
import pluginregistration.v1.RegistrationStatus;
import pluginregistration.v1.RegistrationStatusResponse;

/// A driver of Dynamic Resource Allocation with nothing to prepare: tests write its devices into a ResourceSlice.
/// It serves claims and registration on one socket, in the kubelet's plugin registry.
public final class FakeDraDriver extends DRAPluginGrpc.DRAPluginImplBase {
    private static final Logger LOG = LoggerFactory.getLogger(FakeDraDriver.class);
    private static final Path FOLDER = Path.of("/var/lib/kubelet/plugins_registry");

    private FakeDraDriver() {}

    /// @param arguments the driver's name
    public static void main(String[] arguments) throws IOException, InterruptedException {
        JsonLogging.start(Level.INFO);
        Path socket = FOLDER.resolve(arguments[0] + ".sock");
        Files.deleteIfExists(socket);
        try (UnixSocketServer _ = UnixSocketServer.start(
                new UnixEndpoint(socket),
                List.of(new FakeDraDriver().bindService(), new KubeletRegistration(arguments[0], socket).bindService()),
                List.of())) {
            new CountDownLatch(1).await();
        }
    }

    /// Registers the driver with the kubelet.
    private static final class KubeletRegistration extends RegistrationGrpc.RegistrationImplBase {
        private final String driver;
        private final Path socket;

        KubeletRegistration(String driver, Path socket) {
            this.driver = driver;
            this.socket = socket;
        }

        @Override
        public void getInfo(InfoRequest request, StreamObserver<PluginInfo> observer) {
            observer.onNext(PluginInfo.newBuilder()
                    .setType("DRAPlugin")
                    .setName(driver)
                    .setEndpoint(socket.toString())
                    .addSupportedVersions("v1.DRAPlugin")
                    .build());
            observer.onCompleted();
        }

        @Override
        public void notifyRegistrationStatus(
                RegistrationStatus status, StreamObserver<RegistrationStatusResponse> observer) {
            LOG.info("registered with the kubelet: {} {}", status.getPluginRegistered(), status.getError());
            observer.onNext(RegistrationStatusResponse.getDefaultInstance());
            observer.onCompleted();
        }
    }

    @Override
    public void nodePrepareResources(
            NodePrepareResourcesRequest request, StreamObserver<NodePrepareResourcesResponse> observer) {
        observer.onNext(NodePrepareResourcesResponse.newBuilder()
                .putAllClaims(request.getClaimsList().stream()
                        .collect(
                                Collectors.toMap(Claim::getUid, _ -> NodePrepareResourceResponse.getDefaultInstance())))
                .build());
        observer.onCompleted();
    }

    @Override
    public void nodeUnprepareResources(
            NodeUnprepareResourcesRequest request, StreamObserver<NodeUnprepareResourcesResponse> observer) {
        observer.onNext(NodeUnprepareResourcesResponse.newBuilder()
                .putAllClaims(request.getClaimsList().stream()
                        .collect(Collectors.toMap(
                                Claim::getUid, _ -> NodeUnprepareResourceResponse.getDefaultInstance())))
                .build());
        observer.onCompleted();
    }
}

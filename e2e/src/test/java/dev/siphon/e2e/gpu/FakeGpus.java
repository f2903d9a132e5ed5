package dev.siphon.e2e.gpu;

import dev.siphon.csi.client.UnixSocketChannel;
import dev.siphon.csi.server.JsonLogging;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.csi.server.UnixSocketServer;
import deviceplugin.v1beta1.AllocateRequest;
import deviceplugin.v1beta1.AllocateResponse;
import deviceplugin.v1beta1.ContainerAllocateResponse;
import deviceplugin.v1beta1.Device;
import deviceplugin.v1beta1.DevicePluginGrpc;
import deviceplugin.v1beta1.DevicePluginOptions;
import deviceplugin.v1beta1.Empty;
import deviceplugin.v1beta1.ListAndWatchResponse;
import deviceplugin.v1beta1.NUMANode;
import deviceplugin.v1beta1.RegisterRequest;
import deviceplugin.v1beta1.RegistrationGrpc;
import deviceplugin.v1beta1.TopologyInfo;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// A device plugin with made-up devices: `nvidia.com/gpu`, each on a NUMA node. Like the real ones it registers
/// again with each new kubelet, when that one's socket appears. `ALLOCATED_AT` gives a container the time of the
/// allocation, in seconds since boot.
public final class FakeGpus extends DevicePluginGrpc.DevicePluginImplBase {
    private static final Logger LOG = LoggerFactory.getLogger(FakeGpus.class);
    private static final Path FOLDER = Path.of("/var/lib/kubelet/device-plugins");
    private static final String SOCKET = "fake-gpus.sock";
    private static final String RESOURCE = "nvidia.com/gpu";

    private final List<Device> devices;

    private FakeGpus(List<Device> devices) {
        this.devices = devices;
    }

    /// @param arguments the devices, as `ID=NUMA_NODE`
    public static void main(String[] arguments) throws IOException, InterruptedException {
        JsonLogging.start(Level.INFO);
        FakeGpus plugin =
                new FakeGpus(Arrays.stream(arguments).map(FakeGpus::device).toList());
        try (WatchService watch = FileSystems.getDefault().newWatchService()) {
            FOLDER.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            while (true) {
                plugin.serve(watch);
            }
        }
    }

    private static Device device(String text) {
        String[] parts = text.split("=", 2);
        return Device.newBuilder()
                .setID(parts[0])
                .setHealth("Healthy")
                .setTopology(
                        TopologyInfo.newBuilder().addNodes(NUMANode.newBuilder().setID(Long.parseLong(parts[1]))))
                .build();
    }

    /// Serves one kubelet until a new one appears, which removes all sockets in the folder.
    private void serve(WatchService watch) throws IOException, InterruptedException {
        Path socket = FOLDER.resolve(SOCKET);
        Files.deleteIfExists(socket);
        try (UnixSocketServer _ = UnixSocketServer.start(new UnixEndpoint(socket), List.of(bindService()), List.of())) {
            boolean registered = register();
            while (true) {
                var key = registered ? watch.take() : watch.poll(1, TimeUnit.SECONDS);
                boolean anew = key != null
                        && key.pollEvents().stream()
                                .anyMatch(
                                        event -> String.valueOf(event.context()).equals("kubelet.sock"));
                if (key != null) {
                    key.reset();
                }
                if (anew || !registered) {
                    return;
                }
            }
        }
    }

    private static boolean register() {
        try (UnixSocketChannel kubelet = UnixSocketChannel.open(new UnixEndpoint(FOLDER.resolve("kubelet.sock")))) {
            var _ = RegistrationGrpc.newBlockingStub(kubelet.channel())
                    .withDeadlineAfter(5, TimeUnit.SECONDS)
                    .register(RegisterRequest.newBuilder()
                            .setVersion("v1beta1")
                            .setEndpoint(SOCKET)
                            .setResourceName(RESOURCE)
                            .build());
            LOG.info("registered with the kubelet");
            return true;
        } catch (StatusRuntimeException e) {
            LOG.info("not registered with the kubelet: {}", e.getMessage());
            return false;
        }
    }

    @Override
    public void getDevicePluginOptions(Empty request, StreamObserver<DevicePluginOptions> observer) {
        observer.onNext(DevicePluginOptions.getDefaultInstance());
        observer.onCompleted();
    }

    /// Never ends: the devices do not change.
    @Override
    public void listAndWatch(Empty request, StreamObserver<ListAndWatchResponse> observer) {
        observer.onNext(ListAndWatchResponse.newBuilder().addAllDevices(devices).build());
    }

    @Override
    public void allocate(AllocateRequest request, StreamObserver<AllocateResponse> observer) {
        String now = uptime();
        AllocateResponse.Builder response = AllocateResponse.newBuilder();
        request.getContainerRequestsList()
                .forEach(container -> response.addContainerResponses(ContainerAllocateResponse.newBuilder()
                        .putEnvs("NVIDIA_VISIBLE_DEVICES", String.join(",", container.getDevicesIdsList()))
                        .putEnvs("ALLOCATED_AT", now)));
        observer.onNext(response.build());
        observer.onCompleted();
    }

    /// Returns the first field of `/proc/uptime` (proc(5)), which shells can read too.
    private static String uptime() {
        try {
            return Files.readString(Path.of("/proc/uptime")).split(" ", 2)[0];
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

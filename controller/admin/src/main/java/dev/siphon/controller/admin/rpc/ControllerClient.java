package dev.siphon.controller.admin.rpc;

import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerGrpc;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeContentSource;
import dev.siphon.controller.volume.Homes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.StatusMapping;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.client.UnixSocketChannel;
import dev.siphon.csi.server.UnixEndpoint;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/// A client of the running controller, over its CSI socket: only the controller creates, changes and deletes
/// volumes.
///
/// Throws the [DriverException] of the status code that the controller returns, and
/// [DriverException.BackendUnavailable] if nothing listens on the socket.
public final class ControllerClient implements AutoCloseable {
    private static final Duration CONNECT = Duration.ofSeconds(10);
    private static final Duration CALL = Duration.ofSeconds(60);
    private static final Duration PAUSE = Duration.ofMillis(500);

    private final UnixSocketChannel channel;
    private final Duration patience;

    private ControllerClient(UnixSocketChannel channel, Duration patience) {
        this.channel = channel;
        this.patience = patience;
    }

    /// Returns a client of the controller that listens at `endpoint`.
    ///
    /// @param endpoint `unix:///PATH`
    /// @param patience how long to retry while the controller returns ABORTED
    /// @throws IllegalArgumentException if the endpoint is invalid
    public static ControllerClient at(String endpoint, Duration patience) {
        return new ControllerClient(UnixSocketChannel.open(UnixEndpoint.parse(endpoint)), patience);
    }

    /// Calls CreateVolume, and retries while the contents are being copied. A repeat finds the volume.
    ///
    /// @param sizeBytes the minimum; 0 for the controller's default
    /// @param source the volume to copy; empty for an empty volume
    public Volume create(
            String name, Map<String, String> parameters, long sizeBytes, Optional<VolumeId.Provisioned> source) {
        CreateVolumeRequest.Builder request = CreateVolumeRequest.newBuilder()
                .setName(name)
                .addVolumeCapabilities(VolumeCapability.newBuilder()
                        .setMount(VolumeCapability.MountVolume.getDefaultInstance())
                        .setAccessMode(VolumeCapability.AccessMode.newBuilder()
                                .setMode(VolumeCapability.AccessMode.Mode.MULTI_NODE_MULTI_WRITER)))
                .putAllParameters(parameters);
        if (sizeBytes > 0) {
            request.setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(sizeBytes));
        }
        source.ifPresent(volume -> request.setVolumeContentSource(VolumeContentSource.newBuilder()
                .setVolume(VolumeContentSource.VolumeSource.newBuilder().setVolumeId(volume.toString()))));
        return patiently(() -> stub().createVolume(request.build())).getVolume();
    }

    /// Calls DeleteVolume; succeeds if the volume does not exist.
    public void delete(VolumeId.Provisioned volume) {
        var _ = patiently(() -> stub().deleteVolume(DeleteVolumeRequest.newBuilder()
                .setVolumeId(volume.toString())
                .build()));
    }

    /// Deletes `alias`, and its home with the files, or neither. Succeeds if they do not exist.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if another volume stands for the home
    public void deleteAliasAndHome(VolumeId.Provisioned alias) {
        var _ = patiently(() -> stub().deleteVolume(DeleteVolumeRequest.newBuilder()
                .setVolumeId(alias.toString())
                .putSecrets(Homes.DELETE, Homes.behind(alias).toString())
                .build()));
    }

    /// Calls ControllerExpandVolume; a volume of that size or more stays as it is.
    ///
    /// @param sizeBytes the minimum
    public void expand(VolumeId.Provisioned volume, long sizeBytes) {
        var _ = patiently(() -> stub().controllerExpandVolume(ControllerExpandVolumeRequest.newBuilder()
                .setVolumeId(volume.toString())
                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(sizeBytes))
                .build()));
    }

    private ControllerGrpc.ControllerBlockingStub stub() {
        return ControllerGrpc.newBlockingStub(channel.channel())
                .withDeadlineAfter(CALL.toMillis(), TimeUnit.MILLISECONDS);
    }

    private <T> T patiently(Supplier<T> call) {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            try {
                channel.connect(CONNECT);
                return call.get();
            } catch (StatusRuntimeException answered) {
                DriverException error = StatusMapping.fromStatus(answered.getStatus());
                if (!(error instanceof DriverException.OperationPending) || System.nanoTime() > end) {
                    throw error;
                }
                LockSupport.parkNanos(PAUSE.toNanos());
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                throw new DriverException.BackendUnavailable("interrupted while the controller was asked", stopped);
            }
        }
    }

    @Override
    public void close() {
        channel.close();
    }
}

package dev.siphon.e2e.bench;

import csi.v1.CapacityRange;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.NodeGetCapabilitiesRequest;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeServiceCapability;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.Volume;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/// Calls any CSI driver as a CO does, and remembers each volume's reply.
final class DriverCalls {
    private final CsiClient controller;
    private final CsiClient node;
    private final Map<String, String> parameters;
    private final Map<String, Map<String, String>> secrets;
    private final long bytes;
    private final Path mounts;
    private final Map<String, Volume> volumes = new ConcurrentHashMap<>();

    /// @param parameters of the class
    /// @param secrets by csi-sanity's names for calls
    /// @param bytes the size of each volume
    /// @param mounts the folder to stage and publish in
    DriverCalls(
            CsiClient controller,
            CsiClient node,
            Map<String, String> parameters,
            Map<String, Map<String, String>> secrets,
            long bytes,
            Path mounts) {
        this.controller = controller;
        this.node = node;
        this.parameters = parameters;
        this.secrets = secrets;
        this.bytes = bytes;
        this.mounts = mounts;
    }

    /// Returns the id of a volume created here.
    String id(String name) {
        return volume(name).getVolumeId();
    }

    private Volume volume(String name) {
        Volume volume = volumes.get(name);
        if (volume == null) {
            throw new IllegalStateException("no volume " + name + " was made");
        }
        return volume;
    }

    boolean create(String name) {
        CreateVolumeRequest request = CreateVolumeRequest.newBuilder()
                .setName(name)
                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(bytes))
                .addVolumeCapabilities(Requests.shared())
                .putAllParameters(parameters)
                .putAllSecrets(secretsOf("CreateVolumeSecret"))
                .build();
        var outcome = reported("CreateVolume", () -> controller.controller().createVolume(request));
        outcome.response().ifPresent(made -> volumes.put(name, made.getVolume()));
        return outcome.ok();
    }

    boolean delete(String name) {
        DeleteVolumeRequest request = DeleteVolumeRequest.newBuilder()
                .setVolumeId(id(name))
                .putAllSecrets(secretsOf("DeleteVolumeSecret"))
                .build();
        boolean gone = reported("DeleteVolume", () -> controller.controller().deleteVolume(request))
                .ok();
        if (gone) {
            volumes.remove(name);
        }
        return gone;
    }

    /// Returns whether the driver has the capability STAGE_UNSTAGE_VOLUME.
    boolean stages() {
        return node
                .node()
                .nodeGetCapabilities(NodeGetCapabilitiesRequest.getDefaultInstance())
                .getCapabilitiesList()
                .stream()
                .anyMatch(capability ->
                        capability.getRpc().getType() == NodeServiceCapability.RPC.Type.STAGE_UNSTAGE_VOLUME);
    }

    boolean stage(String name) {
        NodeStageVolumeRequest request = NodeStageVolumeRequest.newBuilder()
                .setVolumeId(id(name))
                .setStagingTargetPath(made(staging(name)).toString())
                .setVolumeCapability(Requests.shared())
                .putAllSecrets(secretsOf("NodeStageVolumeSecret"))
                .putAllVolumeContext(volume(name).getVolumeContextMap())
                .build();
        return reported("NodeStageVolume", () -> node.node().nodeStageVolume(request))
                .ok();
    }

    boolean publish(String name) {
        NodePublishVolumeRequest request = NodePublishVolumeRequest.newBuilder()
                .setVolumeId(id(name))
                .setStagingTargetPath(staging(name).toString())
                .setTargetPath(made(pod(name)).resolve("mount").toString())
                .setVolumeCapability(Requests.shared())
                .putAllSecrets(secretsOf("NodePublishVolumeSecret"))
                .putAllVolumeContext(volume(name).getVolumeContextMap())
                .build();
        return reported("NodePublishVolume", () -> node.node().nodePublishVolume(request))
                .ok();
    }

    boolean unpublish(String name) {
        NodeUnpublishVolumeRequest request = NodeUnpublishVolumeRequest.newBuilder()
                .setVolumeId(id(name))
                .setTargetPath(target(name).toString())
                .build();
        return reported("NodeUnpublishVolume", () -> node.node().nodeUnpublishVolume(request))
                .ok();
    }

    boolean unstage(String name) {
        NodeUnstageVolumeRequest request = NodeUnstageVolumeRequest.newBuilder()
                .setVolumeId(id(name))
                .setStagingTargetPath(staging(name).toString())
                .build();
        return reported("NodeUnstageVolume", () -> node.node().nodeUnstageVolume(request))
                .ok();
    }

    private Path staging(String name) {
        return mounts.resolve(name).resolve("staging");
    }

    private Path pod(String name) {
        return mounts.resolve(name).resolve("pod");
    }

    private Path target(String name) {
        return pod(name).resolve("mount");
    }

    private Map<String, String> secretsOf(String call) {
        return secrets.getOrDefault(call, Map.of());
    }

    private static Path made(Path folder) {
        try {
            return Files.createDirectories(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static <T> Outcome<T> reported(String rpc, Supplier<T> call) {
        Outcome<T> outcome = Outcome.of(call);
        if (!outcome.ok()) {
            System.err.println(rpc + ": " + outcome.code() + ": " + outcome.message());
        }
        return outcome;
    }
}

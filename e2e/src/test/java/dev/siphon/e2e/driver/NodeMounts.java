package dev.siphon.e2e.driver;

import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.function.Consumer;

/// Acts as the kubelet for the pods of one node. Closing unmounts what is still mounted.
public final class NodeMounts implements AutoCloseable {
    private final CsiClient node;
    private final Path folder;
    private final Map<String, String> secrets;
    private final Consumer<Path> makeDirectories;
    private final Deque<Runnable> undo = new ArrayDeque<>();

    /// @param folder the folder of staging and target paths
    /// @param secrets of NodeStageVolume and NodePublishVolume
    public NodeMounts(CsiClient node, Path folder, Map<String, String> secrets) {
        this(node, folder, secrets, NodeMounts::makeHere);
    }

    /// For a node that does not share this process's files.
    ///
    /// @param makeDirectories creates a folder there, with its parents
    public NodeMounts(CsiClient node, Path folder, Map<String, String> secrets, Consumer<Path> makeDirectories) {
        this.node = node;
        this.folder = folder;
        this.secrets = secrets;
        this.makeDirectories = makeDirectories;
    }

    /// Stages and publishes a volume for one pod that reads and writes.
    ///
    /// @return the target path
    public Path mount(Volume volume) {
        return mount(volume, Requests.shared());
    }

    /// Stages and publishes a volume for one pod.
    public Path mount(Volume volume, VolumeCapability capability) {
        stage(volume, capability).get();
        publish(volume, capability, "pod").get();
        return target(volume, "pod");
    }

    /// Calls NodeStageVolume; creates the staging folder before, as a kubelet does.
    public Outcome<?> stage(Volume volume, VolumeCapability capability) {
        NodeStageVolumeRequest request = NodeStageVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setStagingTargetPath(made(staging(volume)).toString())
                .setVolumeCapability(capability)
                .putAllSecrets(secrets)
                .putAllVolumeContext(volume.getVolumeContextMap())
                .build();
        undo.push(() -> unstage(volume));
        return Outcome.of(() -> node.node().nodeStageVolume(request));
    }

    /// Calls NodePublishVolume for a pod; creates only the target's parent before.
    public Outcome<?> publish(Volume volume, VolumeCapability capability, String pod) {
        made(folder.resolve(pod));
        NodePublishVolumeRequest request = NodePublishVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setStagingTargetPath(staging(volume).toString())
                .setTargetPath(target(volume, pod).toString())
                .setVolumeCapability(capability)
                .putAllSecrets(secrets)
                .putAllVolumeContext(volume.getVolumeContextMap())
                .build();
        undo.push(() -> unpublish(volume, pod));
        return Outcome.of(() -> node.node().nodePublishVolume(request));
    }

    /// Calls NodeUnpublishVolume.
    public void unpublish(Volume volume, String pod) {
        var _ = node.node()
                .nodeUnpublishVolume(NodeUnpublishVolumeRequest.newBuilder()
                        .setVolumeId(volume.getVolumeId())
                        .setTargetPath(target(volume, pod).toString())
                        .build());
    }

    /// Calls NodeUnstageVolume.
    public void unstage(Volume volume) {
        var _ = node.node()
                .nodeUnstageVolume(NodeUnstageVolumeRequest.newBuilder()
                        .setVolumeId(volume.getVolumeId())
                        .setStagingTargetPath(staging(volume).toString())
                        .build());
    }

    /// Returns the staging path of a volume.
    public Path staging(Volume volume) {
        return folder.resolve("staging-" + name(volume));
    }

    /// Returns the target path of a volume for a pod.
    public Path target(Volume volume, String pod) {
        return folder.resolve(pod).resolve(name(volume));
    }

    private static String name(Volume volume) {
        return Integer.toHexString(volume.getVolumeId().hashCode());
    }

    private Path made(Path wanted) {
        makeDirectories.accept(wanted);
        return wanted;
    }

    private static void makeHere(Path folder) {
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Unpublishes and unstages everything, the last first.
    @Override
    public void close() {
        while (!undo.isEmpty()) {
            undo.pop().run();
        }
    }
}

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

/// What a kubelet does for the pods of one node. Closing it unmounts what is still mounted.
public final class NodeMounts implements AutoCloseable {
    private final CsiClient node;
    private final Path folder;
    private final Map<String, String> secrets;
    private final Consumer<Path> makeDirectories;
    private final Deque<Runnable> undo = new ArrayDeque<>();

    /// @param folder where staging and target paths are made
    /// @param secrets of NodeStage and NodePublish
    public NodeMounts(CsiClient node, Path folder, Map<String, String> secrets) {
        this(node, folder, secrets, NodeMounts::makeHere);
    }

    /// For a node whose files are not this process's.
    ///
    /// @param makeDirectories makes a folder there, and those above it
    public NodeMounts(CsiClient node, Path folder, Map<String, String> secrets, Consumer<Path> makeDirectories) {
        this.node = node;
        this.folder = folder;
        this.secrets = secrets;
        this.makeDirectories = makeDirectories;
    }

    /// Stages and publishes a volume for one pod that reads and writes.
    ///
    /// @return where the pod sees it
    public Path mount(Volume volume) {
        return mount(volume, Requests.shared());
    }

    /// Stages and publishes a volume for one pod.
    public Path mount(Volume volume, VolumeCapability capability) {
        stage(volume, capability).get();
        publish(volume, capability, "pod").get();
        return target(volume, "pod");
    }

    /// NodeStageVolume; its staging folder is made before, as a kubelet does.
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

    /// NodePublishVolume for a pod; only its target's parent is made before.
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

    /// NodeUnpublishVolume.
    public void unpublish(Volume volume, String pod) {
        var _ = node.node()
                .nodeUnpublishVolume(NodeUnpublishVolumeRequest.newBuilder()
                        .setVolumeId(volume.getVolumeId())
                        .setTargetPath(target(volume, pod).toString())
                        .build());
    }

    /// NodeUnstageVolume.
    public void unstage(Volume volume) {
        var _ = node.node()
                .nodeUnstageVolume(NodeUnstageVolumeRequest.newBuilder()
                        .setVolumeId(volume.getVolumeId())
                        .setStagingTargetPath(staging(volume).toString())
                        .build());
    }

    /// The staging path of a volume.
    public Path staging(Volume volume) {
        return folder.resolve("staging-" + name(volume));
    }

    /// Where a pod sees a volume.
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

    /// Unmounts everything, the last first.
    @Override
    public void close() {
        while (!undo.isEmpty()) {
            undo.pop().run();
        }
    }
}

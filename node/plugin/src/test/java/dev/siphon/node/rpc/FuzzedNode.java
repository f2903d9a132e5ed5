package dev.siphon.node.rpc;

import csi.v1.NodeExpandVolumeRequest;
import csi.v1.NodeGetStorageHealthRequest;
import csi.v1.NodeGetVolumeHealthRequest;
import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.NodeGrpc;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.client.UnixSocketChannel;
import dev.siphon.csi.fuzz.Rpc;
import dev.siphon.csi.server.Deadlines;
import dev.siphon.csi.server.ErrorMapping;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.csi.server.UnixSocketServer;
import dev.siphon.node.RealDatasets;
import dev.siphon.node.Requests;
import dev.siphon.node.device.AnyPlace;
import dev.siphon.node.grant.NamespacePlaces;
import dev.siphon.node.grant.PublishCheck;
import dev.siphon.node.inline.InlineDatasets;
import dev.siphon.node.inline.NeverOffline;
import dev.siphon.node.linux.MountSyscalls;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.CephCredentialsTest;
import dev.siphon.node.mount.Mounters;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.mount.OpenedDatasets;
import dev.siphon.node.mount.OverlayMounter;
import dev.siphon.node.pod.PodEvents;
import dev.siphon.node.pod.PodHealth;
import dev.siphon.node.pod.PublishedPods;
import io.grpc.Channel;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/// A node on a socket whose cluster is a directory, with one volume staged and published.
final class FuzzedNode implements AutoCloseable {
    private static final String ID = "s1:lab:fs:g:v";
    private static final String DATA = "0123abcd-0000-1111-2222-0123456789ab";
    private static final Map<String, String> SECRETS = Map.of("userID", "u", "userKey", CephCredentialsTest.AES_KEY);

    /// The monitor refuses connections at once.
    private static final Map<String, String> CONTEXT =
            Map.of("monitors", "127.0.0.1:1", "fsName", "fs", "mountPath", "/volumes/g", "dataPath", "v");

    /// Directories in which the node may create files.
    private static final List<String> FOLDERS = List.of("cluster/fs", "state", "pod", "staging", "staging-2");

    private final Workplace workplace = Workplace.create();
    private final BlockingCalls calls = new BlockingCalls();
    private final CountingMounter mounter;
    private final UnixSocketServer server;
    private final UnixSocketChannel channel;
    private final NodeGrpc.NodeBlockingStub stub;
    private final Set<String> original;

    private FuzzedNode() {
        Path data = workplace.directory("cluster/fs/volumes/g/v/" + DATA);
        try {
            Files.writeString(data.resolve("file"), "content");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        workplace.directory("state/mounts");
        makeDirectories();
        mounter = new CountingMounter(
                new OverlayMounter(workplace.path("cluster"), Map.of("u", CephCredentialsTest.AES_KEY)));
        NodeVolumes volumes = new NodeVolumes(
                workplace.path("state"),
                new Mounters(List.of(mounter), (_, _) -> mounter),
                RealDatasets.in(workplace.path("state")),
                new OpenedDatasets(workplace.path("opened"), Duration.ZERO, InstantSource.system()),
                calls,
                new NodeVolumes.Limits(Duration.ofSeconds(5), Duration.ofSeconds(10)));
        UnixEndpoint endpoint = new UnixEndpoint(workplace.directory("socket").resolve("csi.sock"));
        server = UnixSocketServer.start(
                endpoint,
                List.of(new NodeService(
                                new NodeId("node-1", Optional.empty()),
                                0,
                                volumes,
                                new PublishCheck(Optional.empty(), NamespacePlaces.NONE, Optional.empty()),
                                NeverOffline.in(workplace.path("inline"), volumes, InlineDatasets.NONE),
                                AnyPlace.of(pods(), calls),
                                pods(),
                                new Deadlines(Duration.ofSeconds(15)))
                        .bindService()),
                List.of(new ErrorMapping()));
        channel = UnixSocketChannel.open(endpoint);
        stub = NodeGrpc.newBlockingStub(channel.channel());
        use();
        original = Set.copyOf(everything());
    }

    static FuzzedNode start() {
        return new FuzzedNode();
    }

    Channel channel() {
        return channel.channel();
    }

    /// Returns how often a mounter was called.
    int questions() {
        return mounter.questions();
    }

    /// Returns all mounts here with their options, and every file that the node could have created.
    List<String> everything() {
        List<String> all = new ArrayList<>(MountTable.read().entries().stream()
                .filter(entry -> entry.mountPoint().startsWith(workplace.path("") + "/"))
                .map(entry -> "mount " + entry.mountPoint() + " " + entry.flags())
                .sorted()
                .toList());
        for (String folder : FOLDERS) {
            Path root = workplace.path(folder);
            try (Stream<Path> files = Files.exists(root) ? Files.walk(root) : Stream.empty()) {
                files.map(Path::toString).sorted().forEach(all::add);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return all;
    }

    private void makeDirectories() {
        for (String folder : List.of("staging", "staging-2", "pod")) {
            workplace.directory(folder);
        }
    }

    private void use() {
        var _ = stub.nodeStageVolume(stage("staging"));
        var _ = stub.nodePublishVolume(publish("pod/target"));
    }

    /// Undoes the changes of an OK reply.
    void restore() {
        workplace.mounts().forEach(point -> MountSyscalls.unmount(point, MountSyscalls.Unmount.DETACH));
        FOLDERS.forEach(this::removeWhatIsNew);
        makeDirectories();
        use();
    }

    /// Removes new files, since a target path may be anywhere.
    private void removeWhatIsNew(String folder) {
        Path root = workplace.path(folder);
        try (Stream<Path> files = Files.exists(root) ? Files.walk(root) : Stream.empty()) {
            for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                if (!original.contains(path.toString())) {
                    Files.delete(path);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String path(String name) {
        return workplace.path(name).toString();
    }

    /// Returns texts that are meaningful in some field.
    List<String> words() {
        List<String> words = new ArrayList<>(List.of(
                ID,
                "s2:lab:fs:g:v",
                "s1:lab:fs:g:v2",
                "s1:lab:fs:g:v@s",
                "static:lab:fs:/volumes/g",
                path("staging"),
                path("staging-2"),
                path("pod/target"),
                path("pod/target-2"),
                path("pod/target/inside"),
                path("pod/missing/target"),
                path("state"),
                path("cluster/fs/volumes"),
                path("pod/../staging")));
        CONTEXT.forEach((key, value) -> words.addAll(List.of(key, value)));
        SECRETS.forEach((key, value) -> words.addAll(List.of(key, value)));
        words.addAll(List.of("mounter", "fuse", "kernel", "auto", "mountOptions", "noatime", "rsize=4096", "ro", "rw"));
        words.addAll(List.of("containerUser", "root", "account", "1000:100"));
        words.addAll(
                List.of("owner", "readOnly", "u1", "nosuid", "relatime", "ext4", "fs2", "/volumes", "v2", "adminID"));
        return words;
    }

    /// Returns every RPC with fields.
    List<Rpc<?>> rpcs() {
        return List.of(
                new Rpc<>(NodeGrpc.getNodeStageVolumeMethod(), stage("staging-2")),
                new Rpc<>(
                        NodeGrpc.getNodeUnstageVolumeMethod(),
                        NodeUnstageVolumeRequest.newBuilder()
                                .setVolumeId(ID)
                                .setStagingTargetPath(path("staging"))
                                .build()),
                new Rpc<>(NodeGrpc.getNodePublishVolumeMethod(), publish("pod/target-2")),
                new Rpc<>(NodeGrpc.getNodeUnpublishVolumeMethod(), unpublish("pod/target")),
                new Rpc<>(
                        NodeGrpc.getNodeGetVolumeStatsMethod(),
                        NodeGetVolumeStatsRequest.newBuilder()
                                .setVolumeId(ID)
                                .setVolumePath(path("pod/target"))
                                .setStagingTargetPath(path("staging"))
                                .build()),
                new Rpc<>(
                        NodeGrpc.getNodeExpandVolumeMethod(),
                        NodeExpandVolumeRequest.newBuilder()
                                .setVolumeId(ID)
                                .setVolumePath(path("pod/target"))
                                .setVolumeCapability(Requests.capability(Mode.MULTI_NODE_MULTI_WRITER))
                                .build()),
                new Rpc<>(
                        NodeGrpc.getNodeGetVolumeHealthMethod(),
                        NodeGetVolumeHealthRequest.newBuilder()
                                .setVolumeId(ID)
                                .setVolumePublishPath(path("pod/target"))
                                .setStagingTargetPath(path("staging"))
                                .build()),
                new Rpc<>(
                        NodeGrpc.getNodeGetStorageHealthMethod(),
                        NodeGetStorageHealthRequest.newBuilder()
                                .putSecrets("userID", "u")
                                .build()));
    }

    private NodeStageVolumeRequest stage(String staging) {
        return NodeStageVolumeRequest.newBuilder()
                .setVolumeId(ID)
                .setStagingTargetPath(path(staging))
                .setVolumeCapability(Requests.capability(Mode.MULTI_NODE_MULTI_WRITER))
                .putAllVolumeContext(CONTEXT)
                .putAllSecrets(SECRETS)
                .build();
    }

    private NodePublishVolumeRequest publish(String target) {
        return NodePublishVolumeRequest.newBuilder()
                .setVolumeId(ID)
                .setStagingTargetPath(path("staging"))
                .setTargetPath(path(target))
                .setVolumeCapability(Requests.capability(Mode.MULTI_NODE_MULTI_WRITER))
                .putAllVolumeContext(CONTEXT)
                .build();
    }

    private NodeUnpublishVolumeRequest unpublish(String target) {
        return NodeUnpublishVolumeRequest.newBuilder()
                .setVolumeId(ID)
                .setTargetPath(path(target))
                .build();
    }

    @Override
    public void close() {
        channel.close();
        server.close();
        calls.close();
        workplace.close();
    }

    private PodHealth pods() {
        return new PodHealth(new PublishedPods(workplace.path("pods")), PodEvents.NOWHERE, new PrometheusRegistry());
    }
}

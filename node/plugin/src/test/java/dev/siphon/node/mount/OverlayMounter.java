package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.RealDatasets;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountSyscalls;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/// A mounter without Ceph: a directory replaces the cluster, and overlayfs its client. Like the client, each
/// overlay mount is a superblock of its own, keeps what is written, and accepts any text as source.
public final class OverlayMounter implements Mounter {
    private static final String PREFIX = "overlay-mounter";

    private final Path cluster;
    private final Map<String, String> keys;

    /// @param cluster contains one directory per file system, which holds its tree
    /// @param keys the key of each user that the cluster knows
    public OverlayMounter(Path cluster, Map<String, String> keys) {
        this.cluster = cluster;
        this.keys = Map.copyOf(keys);
    }

    /// Returns the volumes of a node with such a mounter, which knows the user `u`. Cluster and state are in
    /// `workplace`.
    static NodeVolumes volumes(Workplace workplace, BlockingCalls calls, Duration mountLimit) {
        OverlayMounter mounter =
                new OverlayMounter(workplace.path("cluster"), Map.of("u", CephCredentialsTest.AES_KEY));
        workplace.directory("state/mounts");
        return new NodeVolumes(
                workplace.path("state"),
                new Mounters(List.of(mounter), (_, _) -> mounter),
                RealDatasets.in(workplace.path("state")),
                new OpenedDatasets(workplace.path("state").resolve("opened"), Duration.ZERO, InstantSource.system()),
                calls,
                new NodeVolumes.Limits(Duration.ofSeconds(5), mountLimit));
    }

    @Override
    public String name() {
        return "overlay";
    }

    @Override
    public void mount(ClientMount mount, Path mountPoint, Duration limit) {
        CephCredentials who = mount.credentials();
        if (!who.key().reveal().equals(keys.getOrDefault(who.userId(), ""))) {
            throw new DriverException.AccessDenied("secrets: the cluster knows no such user with that key");
        }
        Path directory = cluster.resolve(mount.fileSystem() + mount.path());
        if (!Files.isDirectory(directory)) {
            throw new DriverException.NotFound(directory + " does not exist");
        }
        Path lower = made(cluster.resolve("empty"));
        Path work = made(cluster.resolve("work").resolve(UUID.randomUUID().toString()));
        String tag = String.join(
                "!",
                PREFIX,
                URLEncoder.encode(mount.volume().toString(), StandardCharsets.UTF_8),
                URLEncoder.encode(mount.monitors().toString(), StandardCharsets.UTF_8));
        MountSyscalls.mount(
                tag,
                mountPoint.toString(),
                "overlay",
                mount.options().flags(),
                mount.options().synchronous(),
                "index=off,lowerdir=" + lower + ",upperdir=" + directory + ",workdir=" + work);
    }

    private static Path made(Path directory) {
        try {
            return Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Optional<MountedVolume> recognize(MountEntry entry) {
        List<String> parts = List.of(entry.source().split("!", -1));
        if (parts.size() != 3 || !parts.getFirst().equals(PREFIX)) {
            return Optional.empty();
        }
        return Optional.of(new MountedVolume.Named(
                VolumeId.parse(URLDecoder.decode(parts.get(1), StandardCharsets.UTF_8)),
                Monitors.parse(URLDecoder.decode(parts.get(2), StandardCharsets.UTF_8))));
    }

    @Override
    public boolean needsItsRoot() {
        return false;
    }

    @Override
    public boolean mayForce(boolean dead) {
        return false;
    }

    @Override
    public void awaitEnd(MountEntry unmounted, Duration limit) {}
}

package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.fuse.FuseProgram;
import dev.siphon.node.linux.LoopDevice;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.mount.MountedDatasets;
import dev.siphon.node.mount.MountedVolume;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.stream.Stream;

/// Adapts the trees of [Replicas] to volume mounts.
public final class DatasetTrees implements MountedDatasets {
    /// The path elements from the state directory to a tree: `DIGEST/PLACE/mount`, as in [ImageMountDirectories].
    private static final int LEVELS = 3;

    private static final int SHOWN_DIGITS = 12;

    private final Replicas replicas;
    private final Path state;
    private final boolean hasChoice;

    /// @param state the state directory of `replicas`, which holds its trees
    /// @param hasChoice whether the node has several cache directories
    public DatasetTrees(Replicas replicas, Path state, boolean hasChoice) {
        this.replicas = replicas;
        this.state = state;
        this.hasChoice = hasChoice;
    }

    @Override
    public Path attach(Digest digest, Path image, Path manifest) {
        return replicas.attach(new DatasetImage(digest, image, manifest)).tree();
    }

    @Override
    public Path attachReplica(Digest digest, Path image, Path manifest) {
        return replicas.attachReplica(new DatasetImage(digest, image, manifest)).tree();
    }

    @Override
    public void warm(Digest digest, Path image, Path manifest) {
        if (replicas.status(digest.beginning()).isEmpty()) {
            replicas.counts().fillsAhead().begins(digest);
        }
        replicas.warm(new DatasetImage(digest, image, manifest));
    }

    @Override
    public Optional<Nearby> chooseTree(Digest digest, List<Path> nearest) {
        return hasChoice ? replicas.chooseTree(digest, nearest) : Optional.empty();
    }

    @Override
    public Optional<Path> follow(Tree tree, List<Path> nearest) {
        return key(Path.of(tree.mount().mountPoint()))
                .filter(ImageMountKey::isCommon)
                .flatMap(key -> replicas.follow(key.digest(), nearest));
    }

    @Override
    public void detach(Tree tree) {
        key(Path.of(tree.mount().mountPoint())).ifPresent(replicas::detach);
    }

    @Override
    public List<Tree> attached() {
        return MountTable.read().entries().stream()
                .flatMap(entry -> key(entry).map(key -> new Tree(key.digest(), entry)).stream())
                .toList();
    }

    /// Returns the key of the image mount with the tree `entry`, judged by the mount point.
    private Optional<ImageMountKey> key(MountEntry entry) {
        return ImageMounts.isTree(entry) ? key(Path.of(entry.mountPoint())) : Optional.empty();
    }

    private Optional<ImageMountKey> key(Path place) {
        return place.startsWith(state) && place.getNameCount() == state.getNameCount() + LEVELS
                ? ImageMountKey.parse(
                        place.getName(state.getNameCount()).toString(),
                        place.getName(state.getNameCount() + 1).toString())
                : Optional.empty();
    }

    @Override
    public Optional<Source> source(MountEntry mount) {
        return ImageMounts.isTree(mount)
                ? keys(mount).flatMap(key -> source(key).stream()).findFirst()
                : Optional.empty();
    }

    private Optional<Source> source(ImageMountKey key) {
        return replicas.attached().stream()
                .filter(tree -> tree.key().equals(key))
                .findFirst()
                .map(tree -> new Source(
                        key.digest().hex(),
                        tree.place().cache(),
                        replicas.counts().fillsAhead().of(key.digest())));
    }

    /// Returns the key of the tree on the same device as `mount`.
    private Stream<ImageMountKey> keys(MountEntry mount) {
        return MountTable.read().entries().stream()
                .filter(tree -> tree.device().equals(mount.device()))
                .flatMap(tree -> key(tree).stream());
    }

    @Override
    public Optional<String> slowness(MountEntry mount) {
        return ErofsFuse.tag(mount)
                .flatMap(ImageMountKey::beginning)
                .map(digest -> "dataset " + digest.substring(0, SHOWN_DIGITS) + " is read by a process ("
                        + FuseProgram.EROFSFUSE.command() + "), since the node's kernel had no EROFS when it was"
                        + " attached: slower, and only for as long as that process runs; " + ErofsSelection.REMEDY);
    }

    @Override
    public Optional<String> problem(String beginning) {
        return replicas.problem(beginning);
    }

    /// Recognizes a mount by the tree on the same device. If that tree is gone with an earlier mount namespace, the
    /// device's tag identifies the dataset. The device is queried only then, because it may hang with its backing
    /// file.
    @Override
    public Optional<MountedVolume> recognize(MountEntry entry) {
        if (!ImageMounts.isTree(entry)) {
            return Optional.empty();
        }
        if (ErofsFuse.tag(entry).isPresent()) {
            return ErofsFuse.tag(entry).flatMap(ImageMountKey::beginning).map(MountedVolume.Sealed::new);
        }
        return keys(entry)
                .map(key -> key.digest().beginning())
                .findFirst()
                .or(() -> tagged(entry))
                .map(MountedVolume.Sealed::new);
    }

    private static Optional<String> tagged(MountEntry entry) {
        Matcher source = ImageMounts.SOURCE.matcher(entry.source());
        if (!source.matches()) {
            return Optional.empty();
        }
        return LoopDevice.open(Integer.parseInt(source.group(1))).flatMap(device -> {
            try (device) {
                return ImageMountKey.beginning(device.status().tag());
            }
        });
    }

    /// Returns false: waiting for an image may mean waiting for CephFS, while the tree itself responds.
    @Override
    public boolean mayForce(boolean dead) {
        return false;
    }

    /// Returns at once: nothing is ever written, and [#detach] removes the tree itself.
    @Override
    public void awaitEnd(MountEntry unmounted, Duration limit) {
        // nothing to wait for
    }
}

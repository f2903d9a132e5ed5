package dev.siphon.node.mount;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.MountEntry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// The mounted trees of sealed datasets on this node. One tree serves all volumes of its dataset, whether it reads
/// the image on CephFS or a replica on a disk.
public interface MountedDatasets extends MountKind {
    /// Mounts a dataset's tree in its own place, unless it is mounted. [#chooseTree] should follow: a first fill
    /// waits for it.
    ///
    /// @param digest the digest of its manifest
    /// @param image the path of its image, on a mount that lasts until [#detach]
    /// @param manifest the path of its manifest
    /// @return the tree's path
    /// @throws dev.siphon.csi.DriverException.Unsupported (UNIMPLEMENTED) if the kernel has no loop devices, or
    ///     neither EROFS nor erofsfuse is available
    /// @throws dev.siphon.csi.DriverException.BackendFault (INTERNAL) if the image does not match its manifest
    Path attach(Digest digest, Path image, Path manifest);

    /// Mounts a dataset's tree over a whole and verified replica, while its image cannot be reached. Does nothing to a
    /// tree that reads a replica already. Once the image is mounted at `image`, all is as after [#attach].
    ///
    /// @param digest the digest of its manifest
    /// @param image where its image will be
    /// @param manifest where its manifest will be
    /// @return the tree's path
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if this node has no such replica,
    ///     has not verified it yet, or reads the tree from CephFS
    Path attachReplica(Digest digest, Path image, Path manifest);

    /// Starts to make a replica of a dataset that no volume shows.
    ///
    /// @param digest the digest of its manifest
    /// @param image the path of its image, on a mount that lasts until the replica is complete
    /// @param manifest the path of its manifest
    void warm(Digest digest, Path image, Path manifest);

    /// What to show a pod of a dataset.
    ///
    /// @param tree the directory to bind
    /// @param replicaDirectories the cache directories of which one holds or will hold the replica; empty if that
    ///     does not matter
    record Nearby(Path tree, List<Path> replicaDirectories) {
        public Nearby {
            replicaDirectories = List.copyOf(replicaDirectories);
        }
    }

    /// Returns the best tree of an attached dataset for a pod. Attaches that tree first if necessary.
    ///
    /// @param nearest the cache directories nearest to the pod's devices; empty if the distance does not matter
    /// @return empty if every pod reads the common tree, or if the dataset is not attached
    Optional<Nearby> chooseTree(Digest digest, List<Path> nearest);

    /// Moves the replica behind a mounted tree, which pods are reading, into one of `nearest`. Makes it there if
    /// necessary, and then switches the tree to it under its readers.
    ///
    /// @param nearest the cache directories nearest to the pods' devices; at least one
    /// @return the destination; empty if the replica is in one of them or on its way there, if none has room for
    ///     it, or if the tree is bound to one place
    Optional<Path> follow(Tree tree, List<Path> nearest);

    /// A mounted tree.
    record Tree(Digest digest, MountEntry mount) {}

    /// Unmounts a tree that no volume shows any more. Succeeds if it is gone.
    ///
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if something still shows it
    void detach(Tree tree);

    /// Returns the mounted trees, including those of an earlier process.
    List<Tree> attached();

    /// What a dataset is read from at present.
    ///
    /// @param digest the digest of its manifest
    /// @param cache the cache directory of the replica; empty for CephFS
    /// @param filledAhead how long the replica took, if it was filled shortly before, for no pod that had started
    record Source(String digest, Optional<Path> cache, Optional<Duration> filledAhead) {}

    /// Returns what the dataset of a mount is read from; empty if the mount shows none. Accesses no disk.
    Optional<Source> source(MountEntry mount);

    /// Returns why reading the dataset of a mount is slower than it could be; empty if it is not, or if the mount
    /// shows no dataset.
    Optional<String> slowness(MountEntry mount);

    /// Returns the fault of a dataset that is readable but degraded on this node: its replica is damaged, or its
    /// disk fails.
    ///
    /// @param beginning the beginning of its digest
    Optional<String> problem(String beginning);
}

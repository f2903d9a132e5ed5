package dev.siphon.node.mount;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.MountEntry;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// The trees of sealed datasets on this node. One tree serves all volumes of its dataset, whatever it is read
/// from: the image on CephFS, or a replica on a disk of the node.
public interface MountedDatasets extends MountKind {
    /// Mounts a dataset's tree at a place of its own, unless it is mounted. [#near] is expected to follow.
    ///
    /// @param digest of its manifest
    /// @param image the path of its image, through a mount that lasts until [#detach]
    /// @param manifest the path of its manifest
    /// @return the tree's path
    /// @throws dev.siphon.csi.DriverException.Unsupported (UNIMPLEMENTED) if the kernel has no loop devices, or no
    ///     EROFS where erofsfuse cannot be used either
    /// @throws dev.siphon.csi.DriverException.BackendFault (INTERNAL) if the image is not what its manifest says
    Path attach(Digest digest, Path image, Path manifest);

    /// Has a replica of a dataset made, though no volume shows it.
    ///
    /// @param digest of its manifest
    /// @param image the path of its image, through a mount that lasts until the replica is whole
    /// @param manifest the path of its manifest
    void warm(Digest digest, Path image, Path manifest);

    /// What a pod is to be shown of a dataset.
    ///
    /// @param tree to bind from
    /// @param homes the cache directories of which one has its replica, or is to have it; none where it does not
    ///     matter
    record Nearby(Path tree, List<Path> homes) {
        public Nearby {
            homes = List.copyOf(homes);
        }
    }

    /// Finds the tree that a pod had best be shown of a dataset that is attached; it may be one more, and is
    /// attached then.
    ///
    /// @param nearest the cache directories that are nearest to the pod's devices; none if it does not matter
    /// @return empty if the dataset is not attached
    Optional<Nearby> near(Digest digest, List<Path> nearest);

    /// Has the replica behind a mounted tree, which pods read already, moved into one of `nearest`: made there if
    /// it is not there, and put behind the tree under its readers.
    ///
    /// @param nearest the cache directories that are nearest to the pods' devices; at least one
    /// @return where it goes to; empty if it is in one of them or on its way there, if none has room for it, or
    ///     if the tree is for one place only
    Optional<Path> follow(Tree tree, List<Path> nearest);

    /// A tree that is mounted.
    record Tree(Digest digest, MountEntry mount) {}

    /// Unmounts a tree that no volume shows any more. That it is gone is success.
    ///
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if something still shows it
    void detach(Tree tree);

    /// The trees that are mounted, also by a run before this one.
    List<Tree> attached();

    /// Why what a mount shows of a dataset is read slower than it could be; empty if it is not, or shows none.
    Optional<String> slowness(MountEntry mount);

    /// What is wrong with a dataset here, though it can be read: its replica is damaged, or its disk fails.
    ///
    /// @param beginning of its digest
    Optional<String> problem(String beginning);
}

package dev.siphon.node.mount;

import dev.siphon.csi.dataset.Digest;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// The trees of sealed datasets on this node. One tree serves all volumes of its dataset, whatever it is read from:
/// the image on CephFS, or a replica on a disk of the node.
public interface Datasets extends MountKind {
    /// Mounts a dataset's tree at a place of its own, unless it is mounted.
    ///
    /// @param digest of its manifest
    /// @param image the path of its image, through a mount that lasts until [#detach]
    /// @param manifest the path of its manifest
    /// @return the tree's path
    /// @throws dev.siphon.csi.DriverException.Unsupported (UNIMPLEMENTED) if the kernel has no EROFS or no loop
    ///     devices
    /// @throws dev.siphon.csi.DriverException.BackendFault (INTERNAL) if the image is not what its manifest says
    Path attach(Digest digest, Path image, Path manifest);

    /// Unmounts a tree that no volume shows any more. That it is gone is success.
    ///
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if something still shows it
    void detach(Digest digest);

    /// The datasets whose tree is mounted, also by a run before this one.
    List<Digest> attached();

    /// What is wrong with a dataset here, though it can be read: its replica is damaged, or its disk fails.
    ///
    /// @param beginning of its digest
    Optional<String> problem(String beginning);
}

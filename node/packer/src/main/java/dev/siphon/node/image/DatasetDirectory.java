package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import jnr.constants.platform.Errno;

/// The directory of one dataset on CephFS. Its files are in a RADOS namespace of their own, because the caps of its
/// readers are limited to that (cephfs(8), "file layouts").
public final class DatasetDirectory {
    private static final String NAMESPACE = "ceph.dir.layout.pool_namespace";

    /// Every directory of CephFS has this attribute.
    private static final String ENTRIES = "ceph.dir.entries";

    private final Path path;

    private DatasetDirectory(Path path) {
        this.path = path;
    }

    /// Creates the directory if it does not exist. Keeps a namespace that is already set.
    ///
    /// @param root where the root of a file system is mounted
    /// @param name of the directory, and of the namespace after `dataset-`
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if there is no CephFS at `root`
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the mount's client may not set the layout
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it has files, but no namespace of its own
    public static DatasetDirectory make(Path root, String name) {
        if (attribute(root, ENTRIES).isEmpty()) {
            throw new DriverException.InvalidRequest("there is no CephFS at " + root + ": mount its root there");
        }
        Path path = root.resolve(Dataset.DIRECTORY.substring(1)).resolve(name);
        try {
            Files.createDirectories(path);
            if (attribute(path, NAMESPACE).isEmpty()) {
                if (hasFiles(path)) {
                    throw new DriverException.InUse(path + " has files but no pool namespace of its own, to bind its"
                            + " key to: remove it, or choose another name");
                }
                setNamespace(path, "dataset-" + name);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new DatasetDirectory(path);
    }

    /// Returns the path of the image, whether it exists or not.
    public Path image() {
        return path.resolve(Dataset.IMAGE);
    }

    private static boolean hasFiles(Path path) throws IOException {
        try (Stream<Path> files = Files.list(path)) {
            return files.findAny().isPresent();
        }
    }

    private static Optional<String> attribute(Path path, String name) {
        try (DirectoryHandle directory = DirectoryHandle.open(path.toString())) {
            return directory.attribute(name);
        } catch (ErrnoException e) {
            throw new DriverException.InvalidRequest(path + " cannot be read: " + e.getMessage());
        }
    }

    private static void setNamespace(Path path, String namespace) {
        try (DirectoryHandle directory = DirectoryHandle.open(path.toString())) {
            directory.attribute(NAMESPACE, namespace);
        } catch (ErrnoException e) {
            if (e.is(Errno.EACCES, Errno.EPERM)) {
                throw new DriverException.AccessDenied("the client that mounts " + path
                        + " may not set its layout: it needs `rwp` (`ceph fs authorize FS client.NAME / rwp`)");
            }
            throw e;
        }
    }
}

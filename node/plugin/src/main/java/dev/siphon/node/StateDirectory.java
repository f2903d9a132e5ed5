package dev.siphon.node;

import dev.siphon.csi.server.StartFailure;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.ExclusiveLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/// The node's own directory. It holds the roots of clients, records of which volumes were published for which pods,
/// and a lock that excludes a second process. Nothing in it outlives its use. Mode 0700, as a client's root shows
/// more than one volume.
final class StateDirectory implements AutoCloseable {
    private final Path path;
    private final ExclusiveLock lock;

    private StateDirectory(Path path, ExclusiveLock lock) {
        this.path = path;
        this.lock = lock;
    }

    /// Creates the directory if necessary, and locks it until this process ends, in any way.
    ///
    /// @throws StartFailure if it cannot be created, or another process has locked it
    static StateDirectory take(Path configured) {
        try {
            Files.createDirectories(configured);
            // paths are compared with the mount table, which has no symbolic links
            Path path = configured.toRealPath();
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
            Path mounts = path.resolve("mounts");
            if (!Files.isDirectory(mounts, LinkOption.NOFOLLOW_LINKS)) {
                Files.createDirectory(mounts);
            }
            return new StateDirectory(path, lock(path));
        } catch (IOException | ErrnoException e) {
            throw new StartFailure("the state directory " + configured + " cannot be used", e);
        }
    }

    private static ExclusiveLock lock(Path path) {
        return ExclusiveLock.take(path.resolve("lock"))
                .orElseThrow(() -> new StartFailure("the state directory " + path + " is in use by another process"));
    }

    Path path() {
        return path;
    }

    @Override
    public void close() {
        lock.close();
    }
}

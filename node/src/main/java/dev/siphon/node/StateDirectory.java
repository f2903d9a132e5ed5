package dev.siphon.node;

import dev.siphon.csi.server.StartFailure;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.ExclusiveLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/// The directory that a node has for itself. Nothing in it outlives its use: it holds the roots of clients, which
/// pods volumes were published for, and a lock by which a second process on the same directory is noticed. Mode 0700: a
/// client's root shows more than
/// one volume.
final class StateDirectory implements AutoCloseable {
    private final Path path;
    private final ExclusiveLock lock;

    private StateDirectory(Path path, ExclusiveLock lock) {
        this.path = path;
        this.lock = lock;
    }

    /// Makes the directory if need be, and takes it for this process until it ends, in whatever way.
    ///
    /// @throws StartFailure if it cannot be made, or another process has it
    static StateDirectory take(Path configured) {
        try {
            Files.createDirectories(configured);
            // the mount table has paths without symbolic links, and the two are compared
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

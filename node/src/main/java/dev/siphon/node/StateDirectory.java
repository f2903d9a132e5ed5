package dev.siphon.node;

import dev.siphon.csi.server.StartFailure;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/// The directory that a node has for itself. Nothing in it outlives its use: it holds the roots of clients, which
/// pods volumes were published for, and a lock by which a second process on the same directory is noticed. Mode 0700: a
/// client's root shows more than
/// one volume.
final class StateDirectory implements AutoCloseable {
    private final Path path;
    private final FileChannel lock;

    private StateDirectory(Path path, FileChannel lock) {
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
        } catch (IOException e) {
            throw new StartFailure("the state directory " + configured + " cannot be used", e);
        }
    }

    private static FileChannel lock(Path path) throws IOException {
        FileChannel lock = FileChannel.open(path.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (lock.tryLock() != null) {
                return lock;
            }
        } catch (OverlappingFileLockException _) {
            // held by this very process
        }
        lock.close();
        throw new StartFailure("the state directory " + path + " is in use by another process");
    }

    Path path() {
        return path;
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }
}

package dev.siphon.node.linux;

import java.nio.file.Path;
import java.util.Optional;
import jnr.constants.platform.Errno;

/// A file lock with one holder at a time, by flock(2). The kernel releases it when it is closed or the process
/// ends, in any way. On CephFS it excludes other clients too. Not [java.nio.channels.FileLock], which is lost as
/// soon as anything in the process closes the same file.
public final class ExclusiveLock implements AutoCloseable {
    private static final long OWNER_ONLY = 0600;
    private static final long LOCK_EX_NB = 2 | 4;

    private final Descriptor descriptor;

    private ExclusiveLock(Descriptor descriptor) {
        this.descriptor = descriptor;
    }

    /// Acquires the lock on the file at `path`, which must not be a symbolic link. Creates it with mode 0600 if it
    /// is missing.
    ///
    /// @return empty if another holder has it
    /// @throws ErrnoException as open(2)
    public static Optional<ExclusiveLock> take(Path path) {
        Descriptor opened = Descriptor.open(
                Syscalls.AT_FDCWD,
                path.toString(),
                Descriptor.O_RDWR | Descriptor.O_CREAT | Syscalls.O_NOFOLLOW,
                OWNER_ONLY,
                0);
        try {
            Syscalls.FLOCK.call(opened.number(), LOCK_EX_NB);
            return Optional.of(new ExclusiveLock(opened));
        } catch (ErrnoException e) {
            opened.close();
            if (e.is(Errno.EWOULDBLOCK, Errno.EAGAIN)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /// Whether `path` still names the locked file.
    public boolean isAt(Path path) {
        try (Descriptor named = Descriptor.open(path.toString(), Descriptor.O_PATH | Syscalls.O_NOFOLLOW)) {
            return FileStatus.of(named, 0).sameFile(FileStatus.of(descriptor, 0));
        } catch (ErrnoException e) {
            if (e.is(Errno.ENOENT)) {
                return false;
            }
            throw e;
        }
    }

    @Override
    public void close() {
        descriptor.close();
    }
}

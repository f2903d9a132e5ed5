package dev.siphon.node.linux;

import java.nio.file.Path;
import java.util.Optional;
import jnr.constants.platform.Errno;

/// A file that one holds at a time, by flock(2): the kernel lets go of it when this is closed or the process ends, in
/// whatever way, and CephFS knows it on all its clients. Not [java.nio.channels.FileLock], which is gone as soon as
/// anybody in the process closes the same file.
public final class ExclusiveLock implements AutoCloseable {
    private static final long OWNER_ONLY = 0600;
    private static final long LOCK_EX_NB = 2 | 4;

    private final Descriptor descriptor;

    private ExclusiveLock(Descriptor descriptor) {
        this.descriptor = descriptor;
    }

    /// Takes the file at `path`, which is made if it is missing, mode 0600, and may be no symbolic link.
    ///
    /// @return empty if somebody else holds it
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

    /// Whether what is held is what `path` names now.
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

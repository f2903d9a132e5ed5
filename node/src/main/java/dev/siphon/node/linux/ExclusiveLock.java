package dev.siphon.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import jnr.constants.platform.Errno;

/// A file that one holds at a time, by flock(2): the kernel lets go of it when this is closed or the process ends, in
/// whatever way, and CephFS knows it on all its clients. Not [java.nio.channels.FileLock], which is gone as soon as
/// anybody in the process closes the same file.
public final class ExclusiveLock implements AutoCloseable {
    private static final long AT_FDCWD = -100;
    private static final long O_RDWR = 2;
    private static final long O_CREAT = 0x40;
    private static final long O_CLOEXEC = 0x80000;
    private static final long O_PATH = 0x200000;
    private static final long AT_EMPTY_PATH = 0x1000;
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
        Descriptor opened = open(path, O_RDWR | O_CREAT | Syscalls.O_NOFOLLOW, OWNER_ONLY);
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
        try (Descriptor named = open(path, O_PATH | Syscalls.O_NOFOLLOW, 0)) {
            return status(named).sameFile(status(descriptor));
        } catch (ErrnoException e) {
            if (e.is(Errno.ENOENT)) {
                return false;
            }
            throw e;
        }
    }

    private static Descriptor open(Path path, long flags, long mode) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment how = arena.allocate(ValueLayout.JAVA_LONG, 3);
            how.setAtIndex(ValueLayout.JAVA_LONG, 0, flags | O_CLOEXEC);
            how.setAtIndex(ValueLayout.JAVA_LONG, 1, mode);
            MemorySegment text = arena.allocateFrom(path.toString(), StandardCharsets.UTF_8);
            return new Descriptor(Syscalls.OPENAT2.call(AT_FDCWD, text.address(), how.address(), how.byteSize()));
        }
    }

    private static FileStatus status(Descriptor of) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(FileStatus.BYTES, Long.BYTES);
            MemorySegment empty = arena.allocateFrom("");
            Syscalls.STATX.call(of.number(), empty.address(), AT_EMPTY_PATH, FileStatus.MASK, status.address());
            return FileStatus.of(status);
        }
    }

    @Override
    public void close() {
        descriptor.close();
    }
}

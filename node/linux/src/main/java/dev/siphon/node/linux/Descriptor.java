package dev.siphon.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A file descriptor that its owner closes once.
final class Descriptor implements AutoCloseable {
    /// Of `asm-generic/fcntl.h`; [Syscalls] has those that differ between architectures.
    static final long O_RDWR = 2;

    static final long O_CREAT = 0x40;
    static final long O_EXCL = 0x80;
    static final long O_NONBLOCK = 0x800;
    static final long O_CLOEXEC = 0x80000;
    static final long O_PATH = 0x200000;

    /// Of `linux/openat2.h`.
    static final long RESOLVE_NO_XDEV = 0x01;

    static final long RESOLVE_NO_MAGICLINKS = 0x02;
    static final long RESOLVE_NO_SYMLINKS = 0x04;
    static final long RESOLVE_BENEATH = 0x08;

    private static final Logger LOG = LoggerFactory.getLogger(Descriptor.class);

    private final int number;
    private final AtomicBoolean open = new AtomicBoolean(true);

    Descriptor(long number) {
        this.number = Math.toIntExact(number);
    }

    /// Opens a path by openat2(2). Children do not inherit the descriptor.
    ///
    /// @throws ErrnoException as openat2(2)
    static Descriptor open(String path, long flags) {
        return open(Syscalls.AT_FDCWD, path, flags, 0, 0);
    }

    /// @param at the directory that a relative path starts from
    /// @param mode the permissions of a created file
    /// @param resolve what the path must not cross
    static Descriptor open(long at, String path, long flags, long mode, long resolve) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment how = arena.allocate(ValueLayout.JAVA_LONG, 3);
            how.setAtIndex(ValueLayout.JAVA_LONG, 0, flags | O_CLOEXEC);
            how.setAtIndex(ValueLayout.JAVA_LONG, 1, mode);
            how.setAtIndex(ValueLayout.JAVA_LONG, 2, resolve);
            return new Descriptor(Syscalls.OPENAT2.call(at, Syscalls.text(arena, path), how.address(), how.byteSize()));
        }
    }

    /// @throws IllegalStateException if it is closed: its number may belong to another file by now
    int number() {
        if (!open.get()) {
            throw new IllegalStateException("file descriptor " + number + " is closed");
        }
        return number;
    }

    /// Returns a path by which this process reaches the open file, even if it was renamed or deleted.
    String path() {
        return "/proc/self/fd/" + number();
    }

    /// Reads from `offset` until `into`, which is native memory, is full or the file ends. Holes read as zeros.
    ///
    /// @param alignment that of direct I/O, otherwise 1; a read of any other length has reached the end of the file
    /// @return the number of bytes read
    long read(long offset, MemorySegment into, int alignment) {
        long read = 0;
        while (read < into.byteSize()) {
            long some = Syscalls.PREAD64.call(number(), into.address() + read, into.byteSize() - read, offset + read);
            read += some;
            if (some == 0 || some % alignment != 0) {
                break;
            }
        }
        return read;
    }

    /// Closes the descriptor once. Linux releases it even if close(2) fails, such as with ENOTCONN after a FUSE
    /// daemon was killed. Writers have synced before, so an error needs no action.
    @Override
    public void close() {
        if (open.getAndSet(false)) {
            try {
                Syscalls.CLOSE.call(number);
            } catch (ErrnoException e) {
                LOG.debug("closed a file whose file system failed", e);
            }
        }
    }
}

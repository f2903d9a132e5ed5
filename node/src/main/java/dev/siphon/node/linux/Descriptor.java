package dev.siphon.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A file descriptor that is closed once, by its owner.
final class Descriptor implements AutoCloseable {
    /// Of `asm-generic/fcntl.h`; those that differ between machines are in [Syscalls].
    static final long O_RDWR = 2;

    static final long O_CREAT = 0x40;
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

    /// Opens a path by openat2(2), not to be inherited by children.
    ///
    /// @throws ErrnoException as openat2(2)
    static Descriptor open(String path, long flags) {
        return open(Syscalls.AT_FDCWD, path, flags, 0, 0);
    }

    /// @param at where a relative path begins
    /// @param mode permissions of a file that is made
    /// @param resolve what the path may not lead over
    static Descriptor open(long at, String path, long flags, long mode, long resolve) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment how = arena.allocate(ValueLayout.JAVA_LONG, 3);
            how.setAtIndex(ValueLayout.JAVA_LONG, 0, flags | O_CLOEXEC);
            how.setAtIndex(ValueLayout.JAVA_LONG, 1, mode);
            how.setAtIndex(ValueLayout.JAVA_LONG, 2, resolve);
            return new Descriptor(Syscalls.OPENAT2.call(at, Syscalls.text(arena, path), how.address(), how.byteSize()));
        }
    }

    /// @throws IllegalStateException if it has been closed: its number may by now be somebody else's
    int number() {
        if (!open.get()) {
            throw new IllegalStateException("file descriptor " + number + " is closed");
        }
        return number;
    }

    /// The path by which this process reaches the open file, whatever happens to its name.
    String path() {
        return "/proc/self/fd/" + number();
    }

    /// Reads from `offset` until `into`, which is native memory, is full or the file ends; a hole is zeros.
    ///
    /// @param alignment of direct I/O, 1 without: it goes on at multiples of that only, so what ends elsewhere has
    ///     met the end of the file
    /// @return how many bytes were read
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

    /// Linux lets go of the descriptor whatever close(2) answers, such as ENOTCONN for a file of a FUSE daemon that was
    /// killed: nothing is left to do about it, and whoever writes has synced before.
    @Override
    public void close() {
        if (open.getAndSet(false)) {
            try {
                Syscalls.CLOSE.call(number);
            } catch (ErrnoException e) {
                LOG.debug("let go of a file whose file system failed", e);
            }
        }
    }
}

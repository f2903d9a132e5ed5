package dev.siphon.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import jnr.constants.platform.Errno;

/// A regular file by its descriptor, read and written at offsets.
///
/// Not a [java.nio.channels.FileChannel]: that one is closed under all its users when a thread that waits in it is
/// interrupted, and the loop device wants the descriptor's number. Every method may hang with the file system, and
/// throws [ErrnoException].
public final class DataFile implements AutoCloseable {
    /// What offsets, lengths and addresses are multiples of where direct I/O is wanted, in bytes. No disk and no
    /// network file system asks for more.
    public static final int ALIGNMENT = 4096;

    private static final long AT_FDCWD = -100;
    private static final long AT_EMPTY_PATH = 0x1000;
    private static final long O_RDWR = 2;
    private static final long O_CREAT = 0x40;
    private static final long O_CLOEXEC = 0x80000;
    private static final long RESOLVE_NO_MAGICLINKS = 0x02;
    private static final long RESOLVE_NO_SYMLINKS = 0x04;
    private static final int OWNER_ONLY = 0600;

    private static final long STATX_BASIC_STATS = 0x7ff;
    private static final long STATX_BYTES = 256;
    private static final long STATX_MODE = 28;
    private static final long STATX_INO = 32;
    private static final long STATX_SIZE = 40;
    private static final long STATX_DEV_MAJOR = 136;
    private static final long STATX_DEV_MINOR = 140;
    private static final int S_IFMT = 0xf000;
    private static final int S_IFREG = 0x8000;

    private final Descriptor descriptor;
    private final boolean direct;
    private final FileIdentity identity;
    private final long size;

    private DataFile(Descriptor descriptor, boolean direct) {
        this.descriptor = descriptor;
        this.direct = direct;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(STATX_BYTES, Long.BYTES);
            Syscalls.STATX.call(
                    descriptor.number(), text(arena, ""), AT_EMPTY_PATH, STATX_BASIC_STATS, attributes.address());
            if ((attributes.get(ValueLayout.JAVA_SHORT, STATX_MODE) & S_IFMT) != S_IFREG) {
                throw new ErrnoException("open", Errno.EINVAL.intValue());
            }
            this.identity = FileIdentity.of(
                    attributes.get(ValueLayout.JAVA_INT, STATX_DEV_MAJOR),
                    attributes.get(ValueLayout.JAVA_INT, STATX_DEV_MINOR),
                    attributes.get(ValueLayout.JAVA_LONG, STATX_INO));
            this.size = attributes.get(ValueLayout.JAVA_LONG, STATX_SIZE);
        } catch (ErrnoException e) {
            descriptor.close();
            throw e;
        }
    }

    /// Opens a file to read, through the page cache. No part of the absolute path may be a symbolic link.
    ///
    /// @throws ErrnoException EINVAL if it is no regular file
    public static DataFile open(Path path) {
        return new DataFile(open(path, 0, 0), false);
    }

    /// As [#open], past the page cache where the file system can do that: what is read is what the disk or the
    /// servers hold, and pages of others stay in memory.
    public static DataFile openDirect(Path path) {
        return direct(path, 0, 0);
    }

    /// Opens a file to read and write, past the page cache where possible, and makes it if it is missing, mode 0600.
    public static DataFile create(Path path) {
        return direct(path, O_RDWR | O_CREAT, OWNER_ONLY);
    }

    private static DataFile direct(Path path, long flags, int mode) {
        try {
            return new DataFile(open(path, flags | Syscalls.O_DIRECT, mode), true);
        } catch (ErrnoException e) {
            if (!e.is(Errno.EINVAL)) {
                throw e;
            }
            return new DataFile(open(path, flags, mode), false);
        }
    }

    private static Descriptor open(Path path, long flags, int mode) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment how = arena.allocate(ValueLayout.JAVA_LONG, 3);
            how.setAtIndex(ValueLayout.JAVA_LONG, 0, flags | O_CLOEXEC);
            how.setAtIndex(ValueLayout.JAVA_LONG, 1, mode);
            how.setAtIndex(ValueLayout.JAVA_LONG, 2, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
            return new Descriptor(
                    Syscalls.OPENAT2.call(AT_FDCWD, text(arena, path.toString()), how.address(), how.byteSize()));
        }
    }

    /// Whether it is read and written past the page cache.
    public boolean isDirect() {
        return direct;
    }

    public FileIdentity identity() {
        return identity;
    }

    /// Its length in bytes when it was opened.
    public long size() {
        return size;
    }

    /// Reads from `offset` until `into` is full or the file ends.
    ///
    /// @return how many bytes were read
    public long read(long offset, MemorySegment into) {
        long read = 0;
        while (read < into.byteSize()) {
            long some = Syscalls.PREAD64.call(
                    descriptor.number(), into.address() + read, into.byteSize() - read, offset + read);
            // direct I/O goes on at multiples of the alignment only: what ends elsewhere has met the end of the file
            if (some == 0 || (direct && some % ALIGNMENT != 0)) {
                return read + some;
            }
            read += some;
        }
        return read;
    }

    /// Writes all of `from` at `offset`.
    public void write(long offset, MemorySegment from) {
        long written = 0;
        while (written < from.byteSize()) {
            written += Syscalls.PWRITE64.call(
                    descriptor.number(), from.address() + written, from.byteSize() - written, offset + written);
        }
    }

    /// Gives the file this length, and has the disk keep the room for it where the file system can (fallocate(2)).
    ///
    /// @throws ErrnoException ENOSPC before anything is written
    public void allocate(long bytes) {
        Syscalls.FTRUNCATE.call(descriptor.number(), bytes);
        try {
            Syscalls.FALLOCATE.call(descriptor.number(), 0, 0, bytes);
        } catch (ErrnoException e) {
            // ENOTSUP is how Linux says EOPNOTSUPP: both have the same number
            if (!e.is(Errno.ENOTSUP, Errno.ENOSYS)) {
                throw e;
            }
        }
    }

    /// Gives the file this length, with zeros in what it lacked.
    public void lengthen(long bytes) {
        Syscalls.FTRUNCATE.call(descriptor.number(), bytes);
    }

    /// fsync(2).
    public void sync() {
        Syscalls.FSYNC.call(descriptor.number());
    }

    int number() {
        return descriptor.number();
    }

    private static long text(Arena arena, String text) {
        return arena.allocateFrom(text, StandardCharsets.UTF_8).address();
    }

    @Override
    public void close() {
        descriptor.close();
    }
}

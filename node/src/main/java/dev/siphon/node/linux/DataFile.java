package dev.siphon.node.linux;

import java.lang.foreign.MemorySegment;
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

    private static final int OWNER_ONLY = 0600;

    private final Descriptor descriptor;
    private final boolean direct;
    private final FileIdentity identity;
    private final long size;

    private DataFile(Descriptor descriptor, boolean direct) {
        this.descriptor = descriptor;
        this.direct = direct;
        try {
            FileStatus status = FileStatus.of(descriptor, 0);
            if (status.kind() != FileStatus.Kind.REGULAR) {
                throw new ErrnoException("open", Errno.EINVAL.intValue());
            }
            this.identity = status.identity();
            this.size = status.size();
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
        return direct(path, Descriptor.O_RDWR | Descriptor.O_CREAT, OWNER_ONLY);
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
        return Descriptor.open(
                Syscalls.AT_FDCWD,
                path.toString(),
                flags,
                mode,
                Descriptor.RESOLVE_NO_SYMLINKS | Descriptor.RESOLVE_NO_MAGICLINKS);
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
        return descriptor.read(offset, into, direct ? ALIGNMENT : 1);
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

    @Override
    public void close() {
        descriptor.close();
    }
}

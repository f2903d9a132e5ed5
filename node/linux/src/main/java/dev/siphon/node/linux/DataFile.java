package dev.siphon.node.linux;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import jnr.constants.platform.Errno;

/// A regular file by its descriptor, for reads and writes at offsets.
///
/// Not a [java.nio.channels.FileChannel]: interrupting a thread that blocks in one closes it for all its users, and
/// the loop device needs the descriptor's number. Every method may hang with the file system, and throws
/// [ErrnoException].
public final class DataFile implements AutoCloseable {
    /// The alignment in bytes of offsets, lengths and addresses in direct I/O. No disk and no network file system
    /// needs a larger one.
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

    /// Opens a file for reading, through the page cache. No part of the absolute path may be a symbolic link.
    ///
    /// @throws ErrnoException EINVAL if it is not a regular file
    public static DataFile open(Path path) {
        return new DataFile(open(path, 0, 0), false);
    }

    /// Same as [#open], but bypasses the page cache if the file system supports that. Reads then return what the
    /// disk or the servers hold, and evict no pages of others.
    public static DataFile openDirect(Path path) {
        return direct(path, 0, 0);
    }

    /// Opens a file for reading and writing, bypassing the page cache if possible. Creates it with mode 0600 if it
    /// is missing.
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

    /// Whether reads and writes bypass the page cache.
    public boolean isDirect() {
        return direct;
    }

    public FileIdentity identity() {
        return identity;
    }

    /// The length in bytes at the time of opening.
    public long size() {
        return size;
    }

    /// Reads from `offset` until `into` is full or the file ends.
    ///
    /// @return the number of bytes read
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

    /// Sets the file's length, and reserves its space on disk if the file system supports that (fallocate(2)).
    ///
    /// @throws ErrnoException ENOSPC before anything is written
    public void allocate(long bytes) {
        Syscalls.FTRUNCATE.call(descriptor.number(), bytes);
        try {
            Syscalls.FALLOCATE.call(descriptor.number(), 0, 0, bytes);
        } catch (ErrnoException e) {
            // Linux' EOPNOTSUPP: both have the same number
            if (!e.is(Errno.ENOTSUP, Errno.ENOSYS)) {
                throw e;
            }
        }
    }

    /// Sets the file's length, filling up with zeros.
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

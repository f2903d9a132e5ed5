package dev.siphon.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Optional;
import jnr.constants.platform.Errno;

/// Writes a tree of files by descriptors, as [TreeReader] reads one: it follows no symbolic link, crosses no mount, and
/// never leaves the root, even if somebody exchanges directories meanwhile. Names are bytes and are never decoded.
///
/// Paths are relative to the root, without `.` and `..`; missing parent directories are made. Confined to the thread
/// that created it. Every method may hang with the file system, and throws [ErrnoException]: ELOOP or ENOTDIR if a
/// parent
/// is a symbolic link or a file, EXDEV if it is a mount, EDQUOT or ENOSPC without room.
public final class TreeWriter implements AutoCloseable {
    private static final int DIRECTORY_MODE = 0755;
    private static final int FILE_MODE = 0600;
    private static final long AT_SYMLINK_NOFOLLOW = 0x100;
    private static final int BUFFER_BYTES = 1 << 20;
    private static final byte[] DOT = {'.'};
    private static final long BENEATH =
            Descriptor.RESOLVE_NO_XDEV | Descriptor.RESOLVE_NO_MAGICLINKS | Descriptor.RESOLVE_BENEATH;

    private final DirectoryHandle root;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment buffer = arena.allocate(BUFFER_BYTES);
    private byte[] herePath = {};
    private Descriptor here;
    private long madeParents;

    /// Creates a writer at `root`, which must stay open as long as the writer.
    public TreeWriter(DirectoryHandle root) {
        this.root = root;
        here = open(root.number(), DOT, Descriptor.O_PATH | Syscalls.O_DIRECTORY, 0);
    }

    /// Makes a directory. One that exists gets the mode; a file with its name is replaced.
    ///
    /// @param mode its permissions
    public void directory(byte[] path, int mode) {
        Descriptor parent = enter(parent(path));
        byte[] name = name(path);
        try {
            make(parent, name);
        } catch (ErrnoException e) {
            if (!e.is(Errno.EEXIST)) {
                throw e;
            }
            if (status(path)
                    .filter(found -> found.kind() == FileStatus.Kind.DIRECTORY)
                    .isEmpty()) {
                remove(parent, name);
                make(parent, name);
            }
        }
        mode(parent, name, mode);
    }

    /// Creates a file for the owner alone, in place of one with its name.
    ///
    /// @throws ErrnoException EISDIR if a directory has the name
    public NewFile create(byte[] path) {
        Descriptor parent = enter(parent(path));
        byte[] name = name(path);
        long flags = Descriptor.O_RDWR | Descriptor.O_CREAT | Descriptor.O_EXCL | Syscalls.O_NOFOLLOW;
        try {
            return new NewFile(open(parent.number(), name, flags, FILE_MODE));
        } catch (ErrnoException e) {
            if (!e.is(Errno.EEXIST)) {
                throw e;
            }
            remove(parent, name);
            return new NewFile(open(parent.number(), name, flags, FILE_MODE));
        }
    }

    /// Creates a symbolic link, in place of a file with its name. Its target is not looked at.
    public void symlink(byte[] path, byte[] target) {
        replacing(path, (parent, name) -> {
            try (Arena call = Arena.ofConfined()) {
                Syscalls.SYMLINKAT.call(text(call, target), parent.number(), text(call, name));
            }
        });
    }

    /// Creates a hard link to the file `existing` of this tree, in place of another file with its name.
    ///
    /// @throws ErrnoException ENOENT if `existing` does not exist, EPERM if it is a directory
    public void link(byte[] path, byte[] existing) {
        if (Arrays.equals(path, existing)) {
            return;
        }
        try (Descriptor from = directory(parent(existing))) {
            replacing(path, (parent, name) -> {
                try (Arena call = Arena.ofConfined()) {
                    Syscalls.LINKAT.call(
                            from.number(), text(call, name(existing)), parent.number(), text(call, name), 0);
                }
            });
        }
    }

    /// Returns the status of a file; of a symbolic link itself. Empty if it does not exist.
    public Optional<FileStatus> status(byte[] path) {
        Descriptor parent = enter(parent(path));
        try (Arena call = Arena.ofConfined()) {
            MemorySegment statx = call.allocate(FileStatus.BYTES, Long.BYTES);
            Syscalls.STATX.call(
                    parent.number(), text(call, name(path)), AT_SYMLINK_NOFOLLOW, FileStatus.MASK, statx.address());
            return Optional.of(FileStatus.of(statx));
        } catch (ErrnoException e) {
            if (e.is(Errno.ENOENT)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /// Returns how many missing parent directories were made.
    public long madeParents() {
        return madeParents;
    }

    /// Whether whoever follows the symbolic link at `path` stays in the tree. Links that lead nowhere do.
    public boolean staysInside(byte[] path) {
        try (Descriptor _ = opened(root.number(), path, Descriptor.O_PATH, 0, BENEATH)) {
            return true;
        } catch (ErrnoException e) {
            if (e.is(Errno.ENOENT, Errno.ELOOP, Errno.ENOTDIR, Errno.EACCES)) {
                return true;
            }
            if (e.is(Errno.EXDEV)) {
                return false;
            }
            throw e;
        }
    }

    /// Flushes the file system of the tree to disk (syncfs(2)).
    ///
    /// @throws ErrnoException also for a write that failed earlier
    public void sync() {
        try (Descriptor directory = open(root.number(), DOT, Syscalls.O_DIRECTORY, 0)) {
            Syscalls.SYNCFS.call(directory.number());
        }
    }

    private interface Creation {
        void in(Descriptor parent, byte[] name);
    }

    private void replacing(byte[] path, Creation creation) {
        Descriptor parent = enter(parent(path));
        byte[] name = name(path);
        try {
            creation.in(parent, name);
        } catch (ErrnoException e) {
            if (!e.is(Errno.EEXIST)) {
                throw e;
            }
            remove(parent, name);
            creation.in(parent, name);
        }
    }

    private static void make(Descriptor parent, byte[] name) {
        try (Arena call = Arena.ofConfined()) {
            Syscalls.MKDIRAT.call(parent.number(), text(call, name), DIRECTORY_MODE);
        }
    }

    private static void mode(Descriptor parent, byte[] name, int mode) {
        try (Arena call = Arena.ofConfined()) {
            Syscalls.FCHMODAT.call(parent.number(), text(call, name), mode);
        }
    }

    /// @throws ErrnoException EISDIR if it is a directory
    private static void remove(Descriptor parent, byte[] name) {
        try (Arena call = Arena.ofConfined()) {
            Syscalls.UNLINKAT.call(parent.number(), text(call, name), 0);
        }
    }

    /// Returns the directory at `path`, which stays open until the next call: most files come directory by directory.
    private Descriptor enter(byte[] path) {
        if (!Arrays.equals(path, herePath)) {
            Descriptor next = directory(path);
            here.close();
            here = next;
            herePath = path;
        }
        return here;
    }

    /// Opens a directory, and makes what is missing of its path.
    private Descriptor directory(byte[] path) {
        long flags = Descriptor.O_PATH | Syscalls.O_DIRECTORY;
        try {
            return open(root.number(), path.length == 0 ? DOT : path, flags, 0);
        } catch (ErrnoException e) {
            if (!e.is(Errno.ENOENT) || path.length == 0) {
                throw e;
            }
        }
        try (Descriptor above = directory(parent(path))) {
            try {
                make(above, name(path));
                madeParents++;
            } catch (ErrnoException e) {
                // another thread may have made it
                if (!e.is(Errno.EEXIST)) {
                    throw e;
                }
            }
            return open(above.number(), name(path), flags, 0);
        }
    }

    private static Descriptor open(int at, byte[] path, long flags, long mode) {
        return opened(at, path, flags, mode, BENEATH | Descriptor.RESOLVE_NO_SYMLINKS);
    }

    private static Descriptor opened(int at, byte[] path, long flags, long mode, long resolve) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment how = call.allocate(ValueLayout.JAVA_LONG, 3);
            how.setAtIndex(ValueLayout.JAVA_LONG, 0, flags | Descriptor.O_CLOEXEC);
            how.setAtIndex(ValueLayout.JAVA_LONG, 1, mode);
            how.setAtIndex(ValueLayout.JAVA_LONG, 2, resolve);
            return new Descriptor(Syscalls.OPENAT2.call(at, text(call, path), how.address(), how.byteSize()));
        }
    }

    private static byte[] parent(byte[] path) {
        return Arrays.copyOf(path, Math.max(0, lastSlash(path)));
    }

    private static byte[] name(byte[] path) {
        return Arrays.copyOfRange(path, lastSlash(path) + 1, path.length);
    }

    private static int lastSlash(byte[] path) {
        int at = path.length - 1;
        while (at >= 0 && path[at] != '/') {
            at--;
        }
        return at;
    }

    private static long text(Arena arena, byte[] bytes) {
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, Arrays.copyOf(bytes, bytes.length + 1))
                .address();
    }

    @Override
    public void close() {
        here.close();
        arena.close();
    }

    /// A file that is being written. Belongs to its [TreeWriter] and that writer's thread.
    public final class NewFile implements AutoCloseable {
        private final Descriptor descriptor;

        private NewFile(Descriptor descriptor) {
            this.descriptor = descriptor;
        }

        /// Writes the first `length` of `bytes` at `offset`.
        ///
        /// @throws ErrnoException as pwrite(2)
        public void write(long offset, byte[] bytes, int length) {
            for (int done = 0; done < length; ) {
                int part = Math.min(BUFFER_BYTES, length - done);
                MemorySegment.copy(bytes, done, buffer, ValueLayout.JAVA_BYTE, 0, part);
                done += (int) Syscalls.PWRITE64.call(descriptor.number(), buffer.address(), part, offset + done);
            }
        }

        /// Sets the file's length; zeros fill a longer one.
        public void lengthen(long bytes) {
            Syscalls.FTRUNCATE.call(descriptor.number(), bytes);
        }

        /// Sets permissions and the time of the last change, which must come last.
        ///
        /// @param seconds since 1970
        /// @param nanos 0 to 999,999,999
        public void finish(int mode, long seconds, int nanos) {
            Syscalls.FCHMOD.call(descriptor.number(), mode);
            try (Arena call = Arena.ofConfined()) {
                MemorySegment times = call.allocate(ValueLayout.JAVA_LONG, 4);
                for (int i = 0; i < 4; i += 2) {
                    times.setAtIndex(ValueLayout.JAVA_LONG, i, seconds);
                    times.setAtIndex(ValueLayout.JAVA_LONG, i + 1, nanos);
                }
                // without a path: the descriptor's file
                Syscalls.UTIMENSAT.call(descriptor.number(), 0, times.address(), 0);
            }
        }

        @Override
        public void close() {
            descriptor.close();
        }
    }
}

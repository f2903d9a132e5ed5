package dev.siphon.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The result of statx(2) for one file.
///
/// @param mode type and permissions, as `st_mode`
/// @param links the number of its hard links, in this tree or elsewhere
/// @param uid unsigned
/// @param gid unsigned
/// @param inode its number, unique within `device`
/// @param device the device that holds it, as in [FileIdentity]
/// @param mount the mount through which it was opened, as in [MountEntry#id]
/// @param size in bytes
/// @param modifiedNanos the nanoseconds after `modifiedSeconds` (since 1970), 0 to 999,999,999
/// @param changedNanos the same for `changedSeconds`, the time of the last change to data or attributes
public record FileStatus(
        int mode,
        int links,
        int uid,
        int gid,
        long inode,
        long device,
        long mount,
        long size,
        long modifiedSeconds,
        int modifiedNanos,
        long changedSeconds,
        int changedNanos) {
    /// `struct statx` of `linux/stat.h`, in bytes.
    static final long BYTES = 256;

    /// `STATX_BASIC_STATS | STATX_MNT_ID`
    static final long MASK = 0x7ff | 0x1000;

    private static final int S_IFMT = 0xf000;
    private static final int S_IFDIR = 0x4000;
    private static final int S_IFREG = 0x8000;
    private static final int S_IFLNK = 0xa000;
    private static final int PERMISSIONS = 0xfff;

    /// The kind of a file, as far as datasets distinguish them.
    public enum Kind {
        REGULAR,
        DIRECTORY,
        SYMLINK,
        /// A socket, a FIFO or a device.
        SPECIAL
    }

    /// Returns the status of an open file.
    ///
    /// @param flags statx(2) flags for the use of caches; 0 behaves as stat(2)
    /// @throws ErrnoException as statx(2)
    static FileStatus of(Descriptor descriptor, long flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment statx = arena.allocate(BYTES, Long.BYTES);
            long empty = Syscalls.text(arena, "");
            Syscalls.STATX.call(descriptor.number(), empty, Syscalls.AT_EMPTY_PATH | flags, MASK, statx.address());
            return of(statx);
        }
    }

    static FileStatus of(MemorySegment statx) {
        return new FileStatus(
                Short.toUnsignedInt(statx.get(ValueLayout.JAVA_SHORT, 28)),
                statx.get(ValueLayout.JAVA_INT, 16),
                statx.get(ValueLayout.JAVA_INT, 20),
                statx.get(ValueLayout.JAVA_INT, 24),
                statx.get(ValueLayout.JAVA_LONG, 32),
                FileIdentity.encode(statx.get(ValueLayout.JAVA_INT, 136), statx.get(ValueLayout.JAVA_INT, 140)),
                statx.get(ValueLayout.JAVA_LONG, 144),
                statx.get(ValueLayout.JAVA_LONG, 40),
                statx.get(ValueLayout.JAVA_LONG, 112),
                statx.get(ValueLayout.JAVA_INT, 120),
                statx.get(ValueLayout.JAVA_LONG, 96),
                statx.get(ValueLayout.JAVA_INT, 104));
    }

    public Kind kind() {
        return switch (mode & S_IFMT) {
            case S_IFDIR -> Kind.DIRECTORY;
            case S_IFREG -> Kind.REGULAR;
            case S_IFLNK -> Kind.SYMLINK;
            default -> Kind.SPECIAL;
        };
    }

    /// The lowest 12 bits of the mode: permissions, setuid, setgid and sticky.
    public int permissions() {
        return mode & PERMISSIONS;
    }

    FileIdentity identity() {
        return new FileIdentity(device, inode);
    }

    FileOwner owner() {
        return new FileOwner(Integer.toUnsignedLong(uid), Integer.toUnsignedLong(gid));
    }

    /// Whether `later` describes the same file, changed or not.
    public boolean sameFile(FileStatus later) {
        return kind() == later.kind() && inode == later.inode && device == later.device;
    }

    /// Whether `later` describes the same file with the same size, modification time and change time.
    public boolean sameContent(FileStatus later) {
        return sameFile(later)
                && size == later.size
                && modifiedSeconds == later.modifiedSeconds
                && modifiedNanos == later.modifiedNanos
                && changedSeconds == later.changedSeconds
                && changedNanos == later.changedNanos;
    }
}

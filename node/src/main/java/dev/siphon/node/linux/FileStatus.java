package dev.siphon.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// What statx(2) says of one file.
///
/// @param mode type and permissions, as `st_mode`
/// @param links how many names it has, in this tree or elsewhere
/// @param uid unsigned
/// @param gid unsigned
/// @param inode its number, unique within `device`
/// @param device the device it is on, as in [FileIdentity]
/// @param mount the mount through which it was reached, as in [MountEntry#id]
/// @param size in bytes
/// @param modifiedNanos what `modifiedSeconds` since 1970 leaves, 0 to 999,999,999
/// @param changedNanos the same of `changedSeconds`, which say when anything about it was last changed
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

    /// What kind of file it is, as far as a dataset cares.
    public enum Kind {
        REGULAR,
        DIRECTORY,
        SYMLINK,
        /// A socket, a FIFO or a device.
        SPECIAL
    }

    /// Of an open file.
    ///
    /// @param flags of statx(2) that say how much of it may come from a cache; 0 for what stat(2) does
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

    /// The lowest 12 bits of the mode: who may do what, and setuid, setgid and sticky.
    public int permissions() {
        return mode & PERMISSIONS;
    }

    FileIdentity identity() {
        return new FileIdentity(device, inode);
    }

    FileOwner owner() {
        return new FileOwner(Integer.toUnsignedLong(uid), Integer.toUnsignedLong(gid));
    }

    /// Whether `later` is of the same file, however it was changed.
    public boolean sameFile(FileStatus later) {
        return kind() == later.kind() && inode == later.inode && device == later.device;
    }

    /// Whether `later` is of the same file, with nothing of it changed that a reader would see.
    public boolean sameContent(FileStatus later) {
        return sameFile(later)
                && size == later.size
                && modifiedSeconds == later.modifiedSeconds
                && modifiedNanos == later.modifiedNanos
                && changedSeconds == later.changedSeconds
                && changedNanos == later.changedNanos;
    }
}

package dev.siphon.controller.ceph.fs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.OptionalInt;

/// A file's attributes, `struct ceph_statx` (`src/include/cephfs/ceph_ll_client.h`).
///
/// @param mode type and permission bits, as in stat(2)
/// @param uid unsigned
/// @param gid unsigned
/// @param accessed access time
/// @param modified modification time
/// @param changed time of the last change of contents or attributes, or of the last rename
record FileStat(
        int mode, int links, int uid, int gid, long inode, long sizeBytes, Time accessed, Time modified, Time changed) {
    /// Size of the C structure in bytes.
    static final long BYTES = 136;

    /// `CEPH_STATX_*` for the fields above.
    static final int WANTED = 0x1 | 0x2 | 0x4 | 0x8 | 0x20 | 0x40 | 0x80 | 0x100 | 0x200;

    private static final int NLINK = 0x4;
    private static final int FORMAT = 0170000;

    /// A time in the file system's precision.
    record Time(long seconds, long nanos) {
        private static Time read(MemorySegment stat, long offset) {
            return new Time(stat.get(JAVA_LONG, offset), stat.get(JAVA_LONG, offset + 8));
        }

        Instant instant() {
            return Instant.ofEpochSecond(seconds, nanos);
        }

        private void write(MemorySegment stat, long offset) {
            stat.set(JAVA_LONG, offset, seconds);
            stat.set(JAVA_LONG, offset + 8, nanos);
        }
    }

    /// Kinds of files.
    enum Kind {
        DIRECTORY,
        REGULAR,
        SYMLINK,
        /// A FIFO or a socket.
        PIPE,
        DEVICE
    }

    static FileStat read(MemorySegment stat) {
        return new FileStat(
                Short.toUnsignedInt(stat.get(JAVA_SHORT, 20)),
                stat.get(JAVA_INT, 8),
                stat.get(JAVA_INT, 12),
                stat.get(JAVA_INT, 16),
                stat.get(JAVA_LONG, 24),
                stat.get(JAVA_LONG, 32),
                Time.read(stat, 64),
                Time.read(stat, 96),
                Time.read(stat, 80));
    }

    /// Returns the number of links; empty if this client does not know it.
    static OptionalInt links(MemorySegment stat) {
        return (stat.get(JAVA_INT, 0) & NLINK) == 0 ? OptionalInt.empty() : OptionalInt.of(stat.get(JAVA_INT, 8));
    }

    /// Writes the fields that `ceph_setattrx` sets.
    void write(MemorySegment stat) {
        stat.set(JAVA_SHORT, 20, (short) mode);
        stat.set(JAVA_INT, 12, uid);
        stat.set(JAVA_INT, 16, gid);
        accessed.write(stat, 64);
        modified.write(stat, 96);
    }

    /// Returns the kind of file in the mode.
    Kind kind() {
        return switch (mode & FORMAT) {
            case 0040000 -> Kind.DIRECTORY;
            case 0100000 -> Kind.REGULAR;
            case 0120000 -> Kind.SYMLINK;
            case 0010000, 0140000 -> Kind.PIPE;
            default -> Kind.DEVICE;
        };
    }

    /// Returns a copy with another owner.
    FileStat ownedBy(int newUid, int newGid) {
        return new FileStat(mode, links, newUid, newGid, inode, sizeBytes, accessed, modified, changed);
    }

    /// Returns whether a copy with the other's attributes looks like a complete copy of this file.
    boolean isLike(FileStat other) {
        return mode == other.mode
                && uid == other.uid
                && gid == other.gid
                && sizeBytes == other.sizeBytes
                && modified.equals(other.modified);
    }
}

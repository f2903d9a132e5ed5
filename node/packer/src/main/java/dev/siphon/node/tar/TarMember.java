package dev.siphon.node.tar;

import java.util.List;
import java.util.SortedMap;

/// A member of a tar.
///
/// @param offset of its header in the tar, in bytes
/// @param path as written, see [TarPath]
/// @param link the target of a symbolic link, or the earlier member of a hard link; empty for others
/// @param permissions the lowest 12 bits of the mode
/// @param uid as written, of any size
/// @param gid the same
/// @param modified when its content was changed
/// @param attributes extended attributes by name
/// @param content of a file
public record TarMember(
        long offset,
        Kind kind,
        String path,
        String link,
        int permissions,
        long uid,
        long gid,
        Time modified,
        SortedMap<String, byte[]> attributes,
        Content content) {
    /// The types that matter for a dataset.
    public enum Kind {
        FILE,
        DIRECTORY,
        SYMLINK,
        HARD_LINK,
        /// A FIFO or a device.
        SPECIAL
    }

    /// @param seconds since 1970
    /// @param nanos the rest, 0 to 999,999,999
    public record Time(long seconds, int nanos) {}

    /// @param at offset in the tar of the first data byte, even if there is none; unique to the member
    /// @param size of the file, in bytes
    /// @param extents in the order of the file; a file that is not sparse has one
    public record Content(long at, long size, List<TarExtent> extents) {
        public Content {
            extents = List.copyOf(extents);
        }

        /// Whether the tar contains all bytes of the file, contiguously.
        public boolean isPlain() {
            return extents.size() == 1 && extents.getFirst().equals(new TarExtent(0, size, at));
        }

        static Content plain(long at, long size) {
            return new Content(at, size, List.of(new TarExtent(0, size, at)));
        }
    }
}

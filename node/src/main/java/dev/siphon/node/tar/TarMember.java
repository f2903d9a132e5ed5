package dev.siphon.node.tar;

import java.util.List;
import java.util.SortedMap;

/// What a tar says of one name.
///
/// @param offset where its header is in the tar, in bytes
/// @param path as it was written, see [TarPath]
/// @param link where a symbolic link leads, or which earlier member a hard link is another name of; or empty
/// @param permissions the lowest 12 bits of the mode
/// @param uid as written, of whatever size
/// @param gid the same
/// @param modified when its content was changed
/// @param attributes extended attributes by their names
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
    /// What kinds of members there are, as far as a dataset cares.
    public enum Kind {
        FILE,
        DIRECTORY,
        SYMLINK,
        HARD_LINK,
        /// A FIFO or a device.
        SPECIAL
    }

    /// @param seconds since 1970
    /// @param nanos what they leave, 0 to 999,999,999
    public record Time(long seconds, int nanos) {}

    /// @param at where the tar has the first byte of it, or would have it; no other member's is there
    /// @param size of the file, in bytes
    /// @param extents in the order of the file; of a file that is not sparse there is one
    public record Content(long at, long size, List<TarExtent> extents) {
        public Content {
            extents = List.copyOf(extents);
        }

        /// Whether the file's bytes follow each other in the tar, all of them.
        public boolean isPlain() {
            return extents.size() == 1 && extents.getFirst().equals(new TarExtent(0, size, at));
        }

        static Content plain(long at, long size) {
            return new Content(at, size, List.of(new TarExtent(0, size, at)));
        }
    }
}

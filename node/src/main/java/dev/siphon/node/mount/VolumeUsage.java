package dev.siphon.node.mount;

import dev.siphon.node.linux.FileSystemUsage;
import java.util.Optional;

/// How full a volume is. No number is negative.
///
/// @param totalBytes its quota, or where it has none, the size of what statfs(2) shows: the account's allowance,
///     or the file system
/// @param usedBytes what its files take, as the MDS last counted them
/// @param availableBytes what may still be written: at most what is left of the account's allowance, too
/// @param totalInodes its quota of files and directories, or [#UNLIMITED]
/// @param usedInodes its files and directories
/// @param availableInodes what may still be made
public record VolumeUsage(
        long totalBytes, long usedBytes, long availableBytes, long totalInodes, long usedInodes, long availableInodes) {
    /// CephFS has no table of inodes that could fill up. Zero would read as full, so this is the most that the
    /// field of the response can hold.
    public static final long UNLIMITED = Long.MAX_VALUE;

    /// The attributes that CephFS shows on a directory (Ceph, "CephFS Quotas" and "recursive statistics"); empty
    /// where there is no quota, or another file system.
    ///
    /// @param bytes `ceph.dir.rbytes`
    /// @param entries `ceph.dir.rentries`, which counts the directory itself
    public record DirectoryNumbers(
            Optional<Long> maxBytes, Optional<Long> maxFiles, Optional<Long> bytes, Optional<Long> entries) {
        /// Of a directory that cannot be asked.
        public static final DirectoryNumbers NONE =
                new DirectoryNumbers(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

        private long made() {
            return Math.max(0, entries.orElse(1L) - 1);
        }

        private long bytesLeft() {
            return maxBytes.isEmpty() ? UNLIMITED : Math.max(0, maxBytes.get() - bytes.orElse(0L));
        }

        private long filesLeft() {
            return maxFiles.isEmpty() ? UNLIMITED : Math.max(0, maxFiles.get() - made());
        }
    }

    /// Puts together what the volume's directory, that of its account, and the file system say: the one with the
    /// least left is the one that stops a writer.
    ///
    /// @param account [DirectoryNumbers#NONE] where the file system's numbers are the account's already
    public static VolumeUsage of(DirectoryNumbers directory, DirectoryNumbers account, FileSystemUsage fileSystem) {
        long total = directory.maxBytes().orElse(fileSystem.totalBytes());
        long used = directory.bytes().orElse(fileSystem.usedBytes());
        long left = Math.min(
                Math.min(Math.max(0, total - used), account.bytesLeft()), Math.max(0, fileSystem.availableBytes()));
        return new VolumeUsage(
                total,
                used,
                left,
                directory.maxFiles().orElse(UNLIMITED),
                directory.made(),
                Math.min(directory.filesLeft(), account.filesLeft()));
    }
}

package dev.siphon.node.mount;

import dev.siphon.node.linux.FileSystemUsage;
import java.util.Optional;

/// The usage of a volume. No number is negative.
///
/// @param totalBytes its quota; without one, the size that statfs(2) reports: the account's allowance or the file
///     system
/// @param usedBytes the size of its files, as the MDS last counted
/// @param availableBytes what can still be written, also limited by the rest of the account's allowance
/// @param totalInodes its quota of files and directories, or [#UNLIMITED]
/// @param usedInodes its files and directories
/// @param availableInodes what can still be created
public record VolumeUsage(
        long totalBytes, long usedBytes, long availableBytes, long totalInodes, long usedInodes, long availableInodes) {
    /// The largest value of the reply's field. CephFS has no inode table that could fill up, and zero would read as
    /// full.
    public static final long UNLIMITED = Long.MAX_VALUE;

    /// The attributes of a CephFS directory (Ceph, "CephFS Quotas" and "recursive statistics"). Empty without a
    /// quota, or on another file system.
    ///
    /// @param bytes `ceph.dir.rbytes`
    /// @param entries `ceph.dir.rentries`, which counts the directory itself
    public record DirectoryNumbers(
            Optional<Long> maxBytes, Optional<Long> maxFiles, Optional<Long> bytes, Optional<Long> entries) {
        /// For a directory that cannot be read.
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

    /// Combines the numbers of the volume's directory, of its account's directory and of the file system: the one
    /// with the least space left stops a writer.
    ///
    /// @param account [DirectoryNumbers#NONE] if the file system's numbers are already those of the account
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

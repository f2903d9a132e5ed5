package dev.siphon.node.mount;

import dev.siphon.node.linux.FileSystemUsage;
import java.util.Optional;

/// How full a volume is. No number is negative.
///
/// @param totalBytes its quota, or where it has none, the size of what statfs(2) shows: the account's
///     allowance, or the file system
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
            Optional<Long> maxBytes, Optional<Long> maxFiles, Optional<Long> bytes, Optional<Long> entries) {}

    /// Puts together what the directory and its file system say.
    public static VolumeUsage of(DirectoryNumbers directory, FileSystemUsage fileSystem) {
        long total = directory.maxBytes().orElse(fileSystem.totalBytes());
        long used = directory.bytes().orElse(fileSystem.usedBytes());
        long left = Math.min(Math.max(0, total - used), Math.max(0, fileSystem.availableBytes()));
        long files = directory.maxFiles().orElse(UNLIMITED);
        long made = Math.max(0, directory.entries().orElse(1L) - 1);
        return new VolumeUsage(total, used, left, files, made, Math.max(0, files - made));
    }
}

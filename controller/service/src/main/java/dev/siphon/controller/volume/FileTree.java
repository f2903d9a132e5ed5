package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;

/// Port: what only a client of the file system can do, without a mount, such as quotas of paths and copies of
/// trees.
///
/// Deadlines and unknown outcomes are as in [Subvolumes]. Paths are absolute in the file system; a symlink in one
/// is refused with [dev.siphon.csi.DriverException.InvalidRequest].
public interface FileTree {
    /// Returns a directory's quota in bytes (`ceph.quota.max_bytes`); empty if it has none.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such directory
    OptionalLong quotaBytes(String cluster, String fileSystem, String path);

    /// Sets a directory's quota in bytes; 0 removes it.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such directory
    void setQuotaBytes(String cluster, String fileSystem, String path, long bytes);

    /// Returns how many files and directories a directory may hold (`ceph.quota.max_files`); empty for no limit.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such directory
    OptionalLong quotaFiles(String cluster, String fileSystem, String path);

    /// Sets how many files and directories a directory may hold (`ceph.quota.max_files`); 0 removes the limit.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such directory
    void setQuotaFiles(String cluster, String fileSystem, String path, long files);

    /// Sets the permission bits of a directory.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such directory
    void setMode(String cluster, String fileSystem, String path, int mode);

    /// Returns the number of files below a directory, at any depth (`ceph.dir.rfiles`). The MDS's count may lag by
    /// seconds.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such directory
    long fileCount(String cluster, String fileSystem, String path);

    /// Returns the bytes written below a directory, at any depth (`ceph.dir.rbytes`); 0 if there is no such
    /// directory. The MDS's count may lag by seconds.
    long writtenBytes(String cluster, String fileSystem, String path);

    /// Returns the path of the only directory in `path` whose name is a UUID: there the mgr puts a subvolume's
    /// data, also in a snapshot (`src/pybind/mgr/volumes/fs/operations/versions/subvolume_v2.py`).
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if there is none
    /// @throws dev.siphon.csi.DriverException.BackendFault if there are several
    String dataDirectory(String cluster, String fileSystem, String path);

    /// Returns when a snapshot was taken (`ceph.snap.btime`), by the clock of the client that took it.
    ///
    /// @param path a directory in the snapshot
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such directory
    /// @throws dev.siphon.csi.DriverException.BackendFault if the directory is in no snapshot
    Instant takenAt(String cluster, String fileSystem, String path);

    /// Returns where the objects of a directory's files go (`ceph.dir.layout`).
    ///
    /// @param path a directory, which may be in a snapshot
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such directory
    /// @throws dev.siphon.csi.DriverException.InUse if it has no layout of its own
    Layout layout(String cluster, String fileSystem, String path);

    /// Returns a note of Siphon on a directory (its attribute `user.siphon.NAME`); empty if there is no such note
    /// or directory. The client caches it until it changes, so most reads ask no MDS.
    Optional<String> note(String cluster, String fileSystem, String path, String name);

    /// Writes a note on a directory; an empty value removes it.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such directory
    void setNote(String cluster, String fileSystem, String path, String name, String value);

    /// Creates a directory that only root can access, for files in a RADOS namespace of their own, to which a key
    /// can be bound. Its parent must exist. An existing directory keeps its namespace.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if the parent does not exist
    /// @throws dev.siphon.csi.DriverException.AccessDenied if the driver's identity may not do this
    void makeDirectory(String cluster, String fileSystem, String path, String namespace);

    /// Removes a directory and the files in it; fails if it contains directories. A missing one is no error.
    void removeDirectory(String cluster, String fileSystem, String path);

    /// Reads a file and returns its digest and beginning; empty if there is no such file. Sees what other clients
    /// have written and closed.
    Optional<Digested> digest(String cluster, String fileSystem, String path);

    /// Returns the names of the directories in a directory, sorted; empty if there is no such directory.
    List<String> directories(String cluster, String fileSystem, String path);

    /// Returns all groups of a file system, sorted by name, without the mgr's own directories. One call for any
    /// number of groups.
    List<GroupUsage.GroupStanding> standings(String cluster, String fileSystem);

    /// Returns the names of the groups of a file system whose directories have a note. One call for any number of
    /// groups.
    Set<String> groupsWith(String cluster, String fileSystem, String note);

    /// Returns what is in a group, in one call with some round trips to the MDS for each subvolume.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such group
    GroupUsage holdings(SubvolumeGroup group);

    /// Sums the lengths of the files in a snapshot of a subvolume, and records the sum beside it for [#holdings].
    /// It is exact even right after the snapshot, because this waits until clients have flushed. The MDS's own sum
    /// is late, and is that of the live tree unless `mds_snap_rstat` is set.
    ///
    /// @param mostEntries files and directories to visit before giving up
    /// @param otherwise what to record if there are more of them, or they are too deep
    /// @return the recorded bytes
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such snapshot
    long measure(SnapshotId snapshot, int mostEntries, long otherwise);

    /// Copies the tree below `source` into the existing directory `target` of the same file system, in the
    /// background and in parallel. Copies contents, modes, times, `user.` attributes, symlinks as symlinks, and
    /// hard links; `uid` and `gid` own every copy. Completes or replaces what an interrupted copy left. Ends with
    /// [dev.siphon.csi.DriverException.InUse] if the tree is too deep.
    Copy copy(String cluster, String fileSystem, String source, String target, int uid, int gid);

    /// Moves deep directories of a volume to the top of its files before its removal. Ceph's removal time then
    /// grows with the number of directories, not with the square of their depth. Reads each directory that contains
    /// others. A missing volume is no error. Idempotent.
    ///
    /// @throws dev.siphon.csi.DriverException.OperationPending (ABORTED) if it is not done by the caller's
    ///     deadline; a retry continues
    void flatten(VolumeId.Provisioned volume);

    /// Where a directory's objects go.
    ///
    /// @param namespace the RADOS namespace in the pool; empty for the default one
    record Layout(String pool, String namespace) {}

    /// The digest and the beginning of a file.
    ///
    /// @param sha256 of the whole file
    /// @param beginning its first [#BEGINNING_BYTES] bytes, as ISO 8859-1
    record Digested(Digest sha256, String beginning) {
        /// More than what precedes the digests in a manifest.
        public static final int BEGINNING_BYTES = 200;
    }

    /// A running copy.
    ///
    /// @param done completes when the copy is complete and flushed, or exceptionally with a
    ///     [dev.siphon.csi.DriverException]; cancelling it stops the copy
    /// @param copiedBytes bytes copied so far
    /// @param copiedEntries files, directories and links copied so far
    record Copy(CompletableFuture<Void> done, LongAdder copiedBytes, LongAdder copiedEntries) {}
}

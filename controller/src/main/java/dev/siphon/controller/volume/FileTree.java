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

/// Port: what only a client of the file system itself can do, without a mount: quotas of paths and copies of
/// trees.
///
/// Deadlines and unknown outcomes are as in [Subvolumes]. Paths are absolute in the file system and no symlink in
/// them is followed ([DriverException.InvalidRequest]).
public interface FileTree {
    /// The quota in bytes of a directory (`ceph.quota.max_bytes`); empty if it has none.
    ///
    /// @throws DriverException.NotFound if there is no such directory
    OptionalLong quotaBytes(String cluster, String fileSystem, String path);

    /// Sets the quota in bytes of a directory; 0 removes it.
    ///
    /// @throws DriverException.NotFound if there is no such directory
    void setQuotaBytes(String cluster, String fileSystem, String path, long bytes);

    /// How many files and directories a directory may hold (`ceph.quota.max_files`); empty if it has no
    /// limit.
    ///
    /// @throws DriverException.NotFound if there is no such directory
    OptionalLong quotaFiles(String cluster, String fileSystem, String path);

    /// Sets how many files and directories a directory may hold (`ceph.quota.max_files`); 0 removes the
    /// limit.
    ///
    /// @throws DriverException.NotFound if there is no such directory
    void setQuotaFiles(String cluster, String fileSystem, String path, long files);

    /// Sets the permission bits of a directory.
    ///
    /// @throws DriverException.NotFound if there is no such directory
    void setMode(String cluster, String fileSystem, String path, int mode);

    /// How many files there are below a directory, at any depth (`ceph.dir.rfiles`), as the MDS last counted,
    /// which may be seconds ago.
    ///
    /// @throws DriverException.NotFound if there is no such directory
    long fileCount(String cluster, String fileSystem, String path);

    /// What is written below a directory, at any depth (`ceph.dir.rbytes`), in bytes, as the MDS last counted,
    /// which may be seconds ago.
    ///
    /// @throws DriverException.NotFound if there is no such directory
    long writtenBytes(String cluster, String fileSystem, String path);

    /// The path of the one directory below `path` whose name is a UUID: where the mgr puts a subvolume's data,
    /// and where that is in a snapshot (`src/pybind/mgr/volumes/fs/operations/versions/subvolume_v2.py`).
    ///
    /// @throws DriverException.NotFound if there is none
    /// @throws DriverException.BackendFault if there are several
    String dataDirectory(String cluster, String fileSystem, String path);

    /// When a snapshot was taken (`ceph.snap.btime`), by the clock of the client that took it.
    ///
    /// @param path that of a directory in the snapshot
    /// @throws DriverException.NotFound if there is no such directory
    /// @throws DriverException.BackendFault if it is in no snapshot
    Instant takenAt(String cluster, String fileSystem, String path);

    /// Where the objects of a directory's files go (`ceph.dir.layout`).
    ///
    /// @param path that of a directory, which may be in a snapshot
    /// @throws DriverException.NotFound if there is no such directory
    /// @throws DriverException.InUse if it has no layout of its own
    Layout layout(String cluster, String fileSystem, String path);

    /// A note of Siphon's on a directory (its attribute `user.siphon.NAME`); empty if there is none, or no such
    /// directory. While nobody changes it the client knows it, and asks no MDS.
    Optional<String> note(String cluster, String fileSystem, String path, String name);

    /// Writes a note on a directory; "" removes it.
    ///
    /// @throws DriverException.NotFound if there is no such directory
    void setNote(String cluster, String fileSystem, String path, String name, String value);

    /// Makes a directory for files that nobody but root may see, in a RADOS namespace of their own, to which a
    /// key can be bound; the directory above it has to be there. One that is there already stays, with the
    /// namespace that it has.
    ///
    /// @throws DriverException.NotFound if the directory above it is not there
    /// @throws DriverException.AccessDenied if the driver's identity may not do that
    void makeDirectory(String cluster, String fileSystem, String path, String namespace);

    /// Removes a directory with the files in it; what is no file keeps it. One that is not there is no error.
    void removeDirectory(String cluster, String fileSystem, String path);

    /// Reads a file, and keeps nothing of it but how it begins; empty if there is none. What another client has
    /// written there and closed is seen.
    Optional<Digested> digest(String cluster, String fileSystem, String path);

    /// The names of the directories in a directory, sorted; none if there is no such directory.
    List<String> directories(String cluster, String fileSystem, String path);

    /// All groups of a file system, by name; the mgr's own directories beside them are left out. One call, however
    /// many there are.
    List<GroupUsage.GroupStanding> standings(String cluster, String fileSystem);

    /// The names of the groups of a file system whose directories have a note. One call, however many there are.
    Set<String> groupsWith(String cluster, String fileSystem, String note);

    /// What is in a group: some round trips to the MDS for each subvolume, all in one call.
    ///
    /// @throws DriverException.NotFound if there is no such group
    GroupUsage holdings(SubvolumeGroup group);

    /// Adds up what the files in a snapshot of a subvolume are long, and writes that down beside it for
    /// [#holdings]. Exact also right after the snapshot: waits for what clients have yet to write. The MDS's own
    /// sum would not do: in a snapshot it is that of now, unless `mds_snap_rstat` is set, and late.
    ///
    /// @param mostEntries files and directories to look at before giving up
    /// @param otherwise what to write down if there are more of them, or they are too deep
    /// @return what was written down, in bytes
    /// @throws DriverException.NotFound if there is no such snapshot
    long measure(SnapshotId snapshot, int mostEntries, long otherwise);

    /// Copies the tree below `source` into the existing directory `target` of the same file system, in the
    /// background and in parallel: contents, modes, times, `user.` attributes, symlinks as symlinks, hard links;
    /// everything owned by `uid` and `gid`. What an earlier, interrupted copy left is completed or replaced.
    /// It ends with [dev.siphon.csi.DriverException.InUse] if the tree is too deep to be walked.
    Copy copy(String cluster, String fileSystem, String source, String target, int uid, int gid);

    /// Moves what lies deep in a volume that is to be removed to the top of its files. Ceph then removes it in a
    /// time that its number of directories tells, and not the square of its depth. It reads each directory that
    /// has others in it. One that is not there is no error. Repeating it is safe.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if it is not done when the caller's time is over; a
    ///     retry goes on
    void flatten(VolumeId.Provisioned volume);

    /// Where objects go.
    ///
    /// @param namespace the RADOS namespace in the pool; empty for the default one
    record Layout(String pool, String namespace) {}

    /// A file that was read.
    ///
    /// @param sha256 of all of it
    /// @param beginning the first [#BEGINNING_BYTES] of it, as ISO 8859-1
    record Digested(Digest sha256, String beginning) {
        /// More than what stands before the digests in a manifest.
        public static final int BEGINNING_BYTES = 200;
    }

    /// A copy that runs.
    ///
    /// @param done completes when the copy is whole and flushed, or exceptionally with a [DriverException];
    ///     cancelling it stops the copy
    /// @param copiedBytes bytes copied so far
    /// @param copiedEntries files, directories and links copied so far
    record Copy(CompletableFuture<Void> done, LongAdder copiedBytes, LongAdder copiedEntries) {}
}

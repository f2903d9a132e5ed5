package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/// Port: subvolumegroups, subvolumes, their snapshots and clones, as Ceph's mgr module `volumes` has them, in
/// every cluster of the clusters file. Keep it this small: each method is one mgr command, so the number of calls
/// is the number of round trips (one more where the mgr answers that something is half-made, or a clone's target).
///
/// Common to all methods: they block for at most the caller's deadline; an object whose cluster is not in the
/// clusters file is [DriverException.InUse] (FAILED_PRECONDITION, so that nothing is taken for deleted); a
/// cluster or file system that does not answer is [DriverException.BackendUnavailable] or
/// [DriverException.DeadlinePassed], and then the outcome is unknown: the call may still take effect, and holds
/// the operation's key until it has ended ([dev.siphon.csi.KeyedOperations#outlive]). Nothing but reads is
/// repeated by the adapter itself.
public interface Subvolumes {
    /// Creates a group owned by root with mode 0755, so that the account can pass through but not write beside
    /// its volumes. Repeating it changes nothing but the quota and pool it names.
    ///
    /// @param quotaBytes the account's allowance
    /// @param dataPool where its data goes unless a subvolume says otherwise
    void createGroup(SubvolumeGroup group, OptionalLong quotaBytes, Optional<String> dataPool);

    /// The names of all groups of a file system, sorted.
    List<String> groups(String cluster, String fileSystem);

    /// Quota and use of a group; empty if there is no such group.
    Optional<GroupSpace> groupUsage(SubvolumeGroup group);

    /// The names of all subvolumes of a group, those that only retain snapshots included, sorted; empty if there
    /// is no such group.
    Optional<List<String>> list(SubvolumeGroup group);

    /// Creates a subvolume in a RADOS namespace of its own. Over an existing one Ceph changes its size, owner and
    /// mode without a word, so only call this when it cannot be there.
    ///
    /// @throws DriverException.NotFound if the group does not exist
    void create(VolumeId.Provisioned volume, SubvolumeSpec spec);

    /// What there is under that name; empty if nothing.
    Optional<Subvolume> find(VolumeId.Provisioned volume);

    /// Sets the quota of a subvolume, up or down. Repeating it is safe.
    ///
    /// @throws DriverException.NotFound if there is no such subvolume, or only its snapshots are left
    void resize(VolumeId.Provisioned volume, long quotaBytes);

    /// Removes a subvolume; its snapshots, if it has any, stay usable. Data is purged in the background by the
    /// mgr. Half-made subvolumes, and clones that failed or were cancelled, are removed too. One that is not
    /// there is no error.
    ///
    /// @throws DriverException.OperationPending if it is the target of a clone that runs; cancel that first
    void remove(VolumeId.Provisioned volume);

    /// Siphon's notes on a subvolume (keys that start with `siphon.`). They go when it is removed, also where its
    /// snapshots stay.
    ///
    /// @throws DriverException.NotFound if there is no such subvolume
    Map<String, String> notes(VolumeId.Provisioned volume);

    /// Writes a note on a subvolume; repeating it is safe.
    ///
    /// @throws DriverException.NotFound if there is no such subvolume
    void setNote(VolumeId.Provisioned volume, String key, String value);

    /// Removes a note; one that is not there is no error.
    void removeNote(VolumeId.Provisioned volume, String key);

    /// The names of a subvolume's snapshots, sorted; empty if there is no such subvolume.
    List<String> snapshots(VolumeId.Provisioned volume);

    /// Takes a snapshot; one of that name that exists stays as it is.
    ///
    /// @throws DriverException.NotFound if there is no such subvolume
    /// @throws DriverException.QuotaExhausted if the subvolume has as many snapshots as the MDS allows (EMLINK)
    void createSnapshot(SnapshotId snapshot);

    /// What there is under that name; empty if nothing.
    Optional<Snapshot> findSnapshot(SnapshotId snapshot);

    /// Removes a snapshot, and its subvolume if that had been removed and this was the last one it retained. One
    /// that is not there is no error.
    ///
    /// @throws DriverException.OperationPending if a clone of it runs
    void removeSnapshot(SnapshotId snapshot);

    /// Starts to clone a snapshot into a new subvolume of the same group; the mgr goes on by itself, also after
    /// its restart. A target that exists is [DriverException.IncompatibleExisting].
    ///
    /// @throws DriverException.NotFound if there is no such snapshot
    /// @throws DriverException.BackendUnavailable if every cloner thread is busy (EAGAIN)
    void startClone(SnapshotId source, VolumeId.Provisioned target);

    /// How far the clone into `target` is; empty if there is no such subvolume or it never was a clone's target.
    Optional<CloneProgress> cloneProgress(VolumeId.Provisioned target);

    /// Cancels the clone into `target`; one that has ended is no error.
    void cancelClone(VolumeId.Provisioned target);

    /// Bytes that can still be written to a data pool, replication counted, by the mon's `df`.
    ///
    /// @param dataPool empty for the file system's first data pool
    /// @throws DriverException.InvalidRequest if the file system has no such data pool
    long availableBytes(String cluster, String fileSystem, Optional<String> dataPool);

    /// What to create a subvolume with.
    ///
    /// @param quotaBytes its size; empty for none
    /// @param mode permission bits of its data directory, for example 0700
    /// @param dataPool empty for the group's
    record SubvolumeSpec(OptionalLong quotaBytes, int uid, int gid, int mode, Optional<String> dataPool) {}

    /// A subvolume as found.
    ///
    /// @param dataPath its data directory, absolute in the file system; empty unless `state` is READY or CLONING
    /// @param quotaBytes empty for none
    record Subvolume(
            State state,
            Optional<String> dataPath,
            OptionalLong quotaBytes,
            long usedBytes,
            int uid,
            int gid,
            int mode,
            String dataPool,
            String poolNamespace) {
        /// What can be done with a subvolume.
        public enum State {
            /// It can be used.
            READY,
            /// It is the target of a clone that has not ended.
            CLONING,
            /// It is the target of a clone that failed or was cancelled: remove it.
            CLONE_ENDED_BADLY,
            /// It was removed; its snapshots are left.
            RETAINED,
            /// The mgr died while it made or removed it, and left pieces: remove it.
            BROKEN
        }
    }

    /// A snapshot as found.
    ///
    /// @param pendingClones the subvolumes that clones of it go into, which keep it from being removed; those
    ///     that have ended among them until the mgr has let go of the snapshot
    record Snapshot(String dataPool, Set<String> pendingClones) {
        public Snapshot {
            pendingClones = Set.copyOf(pendingClones);
        }
    }

    /// Use of a group.
    ///
    /// @param quotaBytes empty for none
    record GroupSpace(OptionalLong quotaBytes, long usedBytes) {}

    /// How far a clone is.
    ///
    /// @param stage where the clone stands
    /// @param progress for people, such as `43%` or why it failed
    record CloneProgress(Stage stage, String progress) {
        /// The stages of a clone that a caller has to tell apart.
        public enum Stage {
            RUNNING,
            COMPLETE,
            FAILED,
            CANCELLED
        }
    }
}

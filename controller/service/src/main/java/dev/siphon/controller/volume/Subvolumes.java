package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/// Port: subvolumegroups, subvolumes, their snapshots and clones in Ceph's mgr module `volumes`, in every cluster
/// of the clusters file. Keep it this small: each method is one mgr command, so the number of calls is the number
/// of round trips. Half-made subvolumes and targets of clones cost one more.
///
/// All methods block at most until the caller's deadline. An object in a cluster that the clusters file does not
/// list causes [dev.siphon.csi.DriverException.InUse] (FAILED_PRECONDITION), so that nobody takes it for deleted.
/// A cluster or file system that does not reply causes [dev.siphon.csi.DriverException.BackendUnavailable] or
/// [dev.siphon.csi.DriverException.DeadlinePassed]. The outcome is then unknown: the call may still take effect,
/// and holds the operation's lock until it ends ([dev.siphon.csi.KeyedOperations#outlive]). The adapter itself
/// retries only reads.
public interface Subvolumes {
    /// Creates a group owned by root with mode 0755: the account can traverse it, but not write beside its volumes.
    /// A repeat changes only the given quota and pool.
    ///
    /// @param quotaBytes the account's allowance
    /// @param dataPool the data pool of subvolumes that name none
    void createGroup(SubvolumeGroup group, OptionalLong quotaBytes, Optional<String> dataPool);

    /// Returns the names of all groups of a file system, sorted.
    List<String> groups(String cluster, String fileSystem);

    /// Returns the quota and usage of a group; empty if there is no such group.
    Optional<GroupSpace> groupUsage(SubvolumeGroup group);

    /// Returns the names of all subvolumes of a group, sorted, including those that only retain snapshots; empty if
    /// there is no such group.
    Optional<List<String>> list(SubvolumeGroup group);

    /// Creates a subvolume in a RADOS namespace of its own. Call it only if the subvolume cannot exist: Ceph
    /// silently changes size, owner and mode of an existing one.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if the group does not exist
    void create(VolumeId.Provisioned volume, SubvolumeSpec spec);

    /// Returns the subvolume of that name, in any state; empty if there is none.
    Optional<Subvolume> find(VolumeId.Provisioned volume);

    /// Sets the quota of a subvolume, up or down. Idempotent.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such subvolume, or only its snapshots are
    /// left
    void resize(VolumeId.Provisioned volume, long quotaBytes);

    /// Removes a subvolume; its snapshots stay usable. The mgr purges the data in the background. Also removes
    /// half-made subvolumes, and the targets of failed or cancelled clones. A missing subvolume is no error.
    ///
    /// @throws dev.siphon.csi.DriverException.OperationPending if it is the target of a running clone; cancel
    /// that first
    void remove(VolumeId.Provisioned volume);

    /// Returns Siphon's metadata on a subvolume (keys that start with `siphon.`). It is deleted with the subvolume,
    /// even if snapshots stay.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such subvolume
    Map<String, String> notes(VolumeId.Provisioned volume);

    /// Sets a metadata key of a subvolume. Idempotent.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such subvolume
    void setNote(VolumeId.Provisioned volume, String key, String value);

    /// Removes a metadata key; a missing one is no error.
    void removeNote(VolumeId.Provisioned volume, String key);

    /// Returns the names of a subvolume's snapshots, sorted; empty if there is no such subvolume.
    List<String> snapshots(VolumeId.Provisioned volume);

    /// Takes a snapshot; an existing one of that name stays as it is.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such subvolume
    /// @throws dev.siphon.csi.DriverException.QuotaExhausted if the subvolume has as many snapshots as the MDS
    /// allows (EMLINK)
    void createSnapshot(SnapshotId snapshot);

    /// Returns the snapshot of that name; empty if there is none.
    Optional<Snapshot> findSnapshot(SnapshotId snapshot);

    /// Removes a snapshot; a missing one is no error. Also removes its subvolume, if that was removed before and
    /// retained only this snapshot.
    ///
    /// @throws dev.siphon.csi.DriverException.OperationPending if a clone of it runs
    void removeSnapshot(SnapshotId snapshot);

    /// Starts to clone a snapshot into a new subvolume of the same group. The mgr continues by itself, even after a
    /// restart. An existing target causes [dev.siphon.csi.DriverException.IncompatibleExisting].
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound if there is no such snapshot
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable if every cloner thread is busy (EAGAIN)
    void startClone(SnapshotId source, VolumeId.Provisioned target);

    /// Returns the progress of the clone into `target`; empty if it does not exist or never was a clone's target.
    Optional<CloneProgress> cloneProgress(VolumeId.Provisioned target);

    /// Cancels the clone into `target`; one that has ended is no error.
    void cancelClone(VolumeId.Provisioned target);

    /// Returns the bytes that can still be written to a data pool, after replication, by the mon's `df`.
    ///
    /// @param dataPool empty for the file system's first data pool
    /// @throws dev.siphon.csi.DriverException.InvalidRequest if the cluster has no such pool or file system
    long availableBytes(String cluster, String fileSystem, Optional<String> dataPool);

    /// The properties of a subvolume to create.
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
        /// The state of a subvolume.
        public enum State {
            /// It can be used.
            READY,
            /// It is the target of a running clone.
            CLONING,
            /// It is the target of a failed or cancelled clone: remove it.
            CLONE_ENDED_BADLY,
            /// It was removed; only its snapshots are left.
            RETAINED,
            /// It is incomplete, because the mgr died while creating or removing it: remove it.
            BROKEN
        }
    }

    /// A snapshot as found.
    ///
    /// @param pendingClones the targets of its clones, which prevent its removal; ended clones stay in the set
    ///     until the mgr releases the snapshot
    record Snapshot(String dataPool, Set<String> pendingClones) {
        public Snapshot {
            pendingClones = Set.copyOf(pendingClones);
        }
    }

    /// The usage of a group.
    ///
    /// @param quotaBytes empty for none
    record GroupSpace(OptionalLong quotaBytes, long usedBytes) {}

    /// The progress of a clone.
    ///
    /// @param stage where the clone stands
    /// @param progress for people, such as `43%` or the cause of a failure
    record CloneProgress(Stage stage, String progress) {
        /// The stages of a clone that a caller must distinguish.
        public enum Stage {
            RUNNING,
            COMPLETE,
            FAILED,
            CANCELLED
        }
    }
}

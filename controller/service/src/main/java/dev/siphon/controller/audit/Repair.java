package dev.siphon.controller.audit;

import dev.siphon.controller.audit.VolumesDirectory.EntryState;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.List;

/// The repair of a finding. Each is idempotent, and none removes user files, see [LeftoverDeletion]. Its text
/// describes the change.
public sealed interface Repair {
    /// A person has to decide.
    record ByHand(String advice) implements Repair {
        @Override
        public String toString() {
            return "by hand: " + advice;
        }
    }

    /// Calls the controller's DeleteVolume for a volume that was never finished; only the controller knows what
    /// exists.
    ///
    /// @param seen the audited state; the repair is refused if it has changed
    record DeleteVolume(VolumeId.Provisioned volume, EntryState seen) implements Repair {
        @Override
        public String toString() {
            return "DeleteVolume " + volume;
        }
    }

    /// Removes a snapshot that no caller knows.
    record RemoveSnapshot(SnapshotId snapshot) implements Repair {
        @Override
        public String toString() {
            return "remove the snapshot";
        }
    }

    /// Removes an empty subvolume that the mgr still lists.
    record RemoveRemains(VolumeId.Provisioned volume) implements Repair {
        @Override
        public String toString() {
            return "remove the empty subvolume";
        }
    }

    /// Marks a stuck clone as failed in its `.meta`, and then deletes it.
    ///
    /// @param seen the audited state; the repair is refused if it has changed
    record EndClone(VolumeId.Provisioned target, EntryState seen, MetaFile failed) implements Repair {
        @Override
        public String toString() {
            return "mark the clone as failed, then DeleteVolume " + target;
        }
    }

    /// Rewrites `.meta`.
    ///
    /// @param seen the audited state; the repair is refused if it has changed
    /// @param old the file of a legacy subvolume that the mgr would read instead, to be removed; "" for none
    record WriteMeta(VolumeId.Provisioned volume, EntryState seen, MetaFile meta, String old) implements Repair {
        @Override
        public String toString() {
            return "write .meta with path " + meta.global("path");
        }
    }

    /// Removes a file or symlink of the mgr.
    record RemoveFile(String cluster, String fileSystem, String path) implements Repair {
        @Override
        public String toString() {
            return "remove " + path;
        }
    }

    /// Removes a directory if it is empty.
    record RemoveEmptyDirectory(String cluster, String fileSystem, String path) implements Repair {
        @Override
        public String toString() {
            return "remove the empty directory " + path;
        }
    }

    /// Sets the quota of an account's group.
    ///
    /// @param bytes 0 for unlimited
    record SetQuota(SubvolumeGroup group, long bytes) implements Repair {
        @Override
        public String toString() {
            return bytes == 0 ? "remove the quota" : "set the quota to " + bytes + " bytes";
        }
    }

    /// Removes a cephx identity.
    record RemoveIdentity(String cluster, String userId) implements Repair {
        @Override
        public String toString() {
            return "auth rm client." + userId;
        }
    }

    /// Removes the identities of a lost Kubernetes cluster, unless a client uses one of them.
    record RemoveIdentities(String cluster, String fileSystem, List<String> userIds) implements Repair {
        public RemoveIdentities {
            userIds = List.copyOf(userIds);
        }

        @Override
        public String toString() {
            return "auth rm of " + userIds.size() + " identities, if no client uses one of them";
        }
    }

    /// Removes a volume's stored key.
    record RemoveKey(VolumeId.Provisioned volume) implements Repair {
        @Override
        public String toString() {
            return "remove the key that is kept";
        }
    }

    /// Mints a key for a volume.
    record MintKey(VolumeId.Provisioned volume) implements Repair {
        @Override
        public String toString() {
            return "mint a key";
        }
    }
}

package dev.siphon.controller.audit;

import dev.siphon.controller.audit.VolumesDirectory.EntryState;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.List;

/// What mends a finding. Each may be repeated, and none removes files, see [LeftoverDeletion]; its text says what
/// would be done.
public sealed interface Repair {
    /// A person has to decide.
    record ByHand(String advice) implements Repair {
        @Override
        public String toString() {
            return "by hand: " + advice;
        }
    }

    /// DeleteVolume of what never became a whole volume, at the controller, which knows what exists.
    ///
    /// @param seen what is to be deleted, and nothing else
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

    /// Removes what the mgr keeps of a subvolume of which nothing is left.
    record RemoveRemains(VolumeId.Provisioned volume) implements Repair {
        @Override
        public String toString() {
            return "remove the empty subvolume";
        }
    }

    /// Says in `.meta` that a clone failed that nobody makes any more, and then has it deleted.
    ///
    /// @param seen what is to be changed, and nothing else
    record EndClone(VolumeId.Provisioned target, EntryState seen, MetaFile failed) implements Repair {
        @Override
        public String toString() {
            return "mark the clone as failed, then DeleteVolume " + target;
        }
    }

    /// Writes `.meta` anew.
    ///
    /// @param seen what is to be changed, and nothing else
    /// @param old where the mgr keeps the `.meta` of a subvolume of old, which would go before it; "" for none
    record WriteMeta(VolumeId.Provisioned volume, EntryState seen, MetaFile meta, String old) implements Repair {
        @Override
        public String toString() {
            return "write .meta with path " + meta.global("path");
        }
    }

    /// Removes a file or symlink of the mgr's.
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
    /// @param bytes 0 for none
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

    /// Removes identities of a Kubernetes that is lost, all or none: not while a client has one of them.
    record RemoveIdentities(String cluster, String fileSystem, List<String> userIds) implements Repair {
        public RemoveIdentities {
            userIds = List.copyOf(userIds);
        }

        @Override
        public String toString() {
            return "auth rm of " + userIds.size() + " identities, if no client has one of them";
        }
    }

    /// Removes the file with a volume's key.
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

package dev.siphon.controller.audit;

import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.VolumeId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/// Port: the content of `/volumes` in a file system, read as files, because the mgr would repair or refuse some
/// of it. Never follows symlinks.
///
/// Deadlines and unknown outcomes are as in [dev.siphon.controller.volume.Subvolumes]. Files that vanish during a
/// read are omitted.
public interface VolumesDirectory {
    /// Returns the state that concerns the file system as a whole.
    Top top(String cluster, String fileSystem);

    /// Returns an account's group without its entries; empty if there is none.
    Optional<GroupState> group(SubvolumeGroup group);

    /// Returns the names of a group's entries, sorted.
    List<String> entries(SubvolumeGroup group);

    /// Returns one entry of a group; empty if there is none.
    Optional<EntryState> entry(SubvolumeGroup group, String name);

    /// Replaces a `.meta` atomically.
    void writeMeta(VolumeId.Provisioned volume, MetaFile meta);

    /// Removes a file or symlink; a missing one is no error.
    ///
    /// @param path absolute in the file system
    void removeFile(String cluster, String fileSystem, String path);

    /// Removes an empty directory; a missing one is no error.
    ///
    /// @param path absolute in the file system
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if it is not empty
    void removeEmptyDirectory(String cluster, String fileSystem, String path);

    /// The state that concerns a file system as a whole.
    ///
    /// @param groups the names of all subvolumegroups, Siphon's and others'
    /// @param clones the mgr's pending clones: tracking id to the target's path
    /// @param trash the entries to be purged: name to removal time
    /// @param authFiles `GROUP/SUBVOLUME` of each file with the mgr's list of authorized identities
    /// @param old the names in `_legacy`, where the mgr stores the `.meta` of legacy subvolumes
    record Top(
            List<String> groups,
            Map<String, String> clones,
            Map<String, Instant> trash,
            Set<String> authFiles,
            Set<String> old) {
        public Top {
            groups = List.copyOf(groups);
            clones = Map.copyOf(clones);
            trash = Map.copyOf(trash);
            authFiles = Set.copyOf(authFiles);
            old = Set.copyOf(old);
        }
    }

    /// A group.
    ///
    /// @param quotaBytes empty if unlimited
    /// @param notes Siphon's attributes of its directory, by name without `user.siphon.`
    record GroupState(SubvolumeGroup group, OptionalLong quotaBytes, Map<String, String> notes) {
        public GroupState {
            notes = Map.copyOf(notes);
        }
    }

    /// The type of a file.
    enum FileKind {
        DIRECTORY,
        SYMLINK,
        OTHER
    }

    /// An entry of a group: a subvolume, or a foreign file.
    ///
    /// @param changed when something in it was last created or removed
    /// @param data its entries with the name of a data directory
    /// @param others unexpected entries: some names, and the number of the rest
    /// @param snapshots the names of its own snapshots, without its group's
    /// @param purging whether removed data of it waits to be purged
    record EntryState(
            String name,
            FileKind kind,
            Instant changed,
            Meta meta,
            List<DataState> data,
            List<String> others,
            List<String> snapshots,
            boolean purging) {
        public EntryState {
            data = List.copyOf(data);
            others = List.copyOf(others);
            snapshots = List.copyOf(snapshots);
        }

        /// Returns the state of an entry that is not a directory.
        public static EntryState noDirectory(String name, FileKind kind, Instant changed) {
            return new EntryState(name, kind, changed, new Meta.Missing(), List.of(), List.of(), List.of(), false);
        }
    }

    /// The `.meta` of a subvolume.
    sealed interface Meta {
        /// The file does not exist.
        record Missing() implements Meta {}

        /// The file cannot be used, and why.
        record Broken(String why) implements Meta {}

        /// The file was read.
        record Read(MetaFile file) implements Meta {}
    }

    /// An entry with the name of a data directory.
    ///
    /// @param name a UUID
    /// @param mode permission bits
    /// @param entries number of files and directories directly in it
    /// @param namespace the RADOS namespace of its files; empty for the common one
    record DataState(String name, FileKind kind, int uid, int gid, int mode, long entries, String namespace) {}
}

package dev.siphon.controller.audit;

import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.VolumeId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/// Port: what lies below `/volumes` of a file system, read as files, since the mgr would mend or refuse some of
/// it. Nothing is followed that is a symlink.
///
/// Deadlines and unknown outcomes are as in [dev.siphon.controller.volume.Subvolumes]. What goes while it is read
/// is left out.
public interface VolumesDirectory {
    /// What concerns a file system as a whole.
    Top top(String cluster, String fileSystem);

    /// An account's group, without what is in it; empty if there is none.
    Optional<GroupState> group(SubvolumeGroup group);

    /// The names of what is in a group, sorted.
    List<String> entries(SubvolumeGroup group);

    /// One entry of a group; empty if there is none.
    Optional<EntryState> entry(SubvolumeGroup group, String name);

    /// Puts a `.meta` in place of what is there, whole or not at all.
    void writeMeta(VolumeId.Provisioned volume, MetaFile meta);

    /// Removes a file or symlink; one that is not there is no error.
    ///
    /// @param path absolute in the file system
    void removeFile(String cluster, String fileSystem, String path);

    /// Removes a directory that is empty; one that is not there is no error.
    ///
    /// @param path absolute in the file system
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if something is in it
    void removeEmptyDirectory(String cluster, String fileSystem, String path);

    /// What concerns a file system as a whole.
    ///
    /// @param groups the names of the subvolumegroups, ours and others'
    /// @param clones the clones that the mgr has to make: tracking id to the target's path
    /// @param trash what waits to be purged: name to since when
    /// @param authFiles `GROUP/SUBVOLUME` of each file in which the mgr keeps who was authorized
    /// @param old the names in `_legacy`, where the mgr keeps the `.meta` of subvolumes of old
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
    /// @param quotaBytes empty for none
    /// @param notes Siphon's attributes of its directory, by their names without `user.siphon.`
    record GroupState(SubvolumeGroup group, OptionalLong quotaBytes, Map<String, String> notes) {
        public GroupState {
            notes = Map.copyOf(notes);
        }
    }

    /// What a file is.
    enum FileKind {
        DIRECTORY,
        SYMLINK,
        OTHER
    }

    /// An entry of a group: a subvolume, or what has come to be there.
    ///
    /// @param changed when something in it was made or removed last
    /// @param data what is in it under the name of a data directory
    /// @param others what else is in it and should not be: some names, and where there are more of them how many
    /// @param snapshots the names of its snapshots, those of its group left out
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

        /// What is no directory.
        public static EntryState noDirectory(String name, FileKind kind, Instant changed) {
            return new EntryState(name, kind, changed, new Meta.Missing(), List.of(), List.of(), List.of(), false);
        }
    }

    /// The `.meta` of a subvolume.
    sealed interface Meta {
        /// There is none.
        record Missing() implements Meta {}

        /// It cannot be used, and why.
        record Broken(String why) implements Meta {}

        /// It could be read.
        record Read(MetaFile file) implements Meta {}
    }

    /// What has the name of a data directory.
    ///
    /// @param name a UUID
    /// @param mode permission bits
    /// @param entries how many files and directories are in it, not deeper
    /// @param namespace the RADOS namespace of its files; empty for the common one
    record DataState(String name, FileKind kind, int uid, int gid, int mode, long entries, String namespace) {}
}

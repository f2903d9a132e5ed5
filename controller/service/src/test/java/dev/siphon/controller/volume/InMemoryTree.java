package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Subvolumes.CloneProgress.Stage;
import dev.siphon.controller.volume.Subvolumes.SubvolumeSpec;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;

/// The fake cluster's content, as Ceph's directories would hold it.
final class InMemoryTree {
    static final List<String> POOLS = List.of("data", "fast");

    final NavigableMap<String, GroupState> groups = new TreeMap<>();
    final Map<String, Directory> plainDirectories = new HashMap<>();

    /// How often a clone must be queried until it has ended.
    int clonesTake = 1;

    static final class GroupState {
        OptionalLong quota = OptionalLong.empty();
        final NavigableMap<String, Entry> subvolumes = new TreeMap<>();
        final Map<String, String> notes = new HashMap<>();
    }

    /// A subvolume: its current data directory, and snapshots of this or earlier ones.
    static final class Entry {
        Optional<Directory> data = Optional.empty();
        final NavigableMap<String, SnapshotState> snapshots = new TreeMap<>();
        final Map<String, String> notes = new TreeMap<>();
        Optional<CloneState> clone = Optional.empty();
        boolean broken;

        /// Notes on the data directory's parent.
        final Map<String, String> directoryNotes = new HashMap<>();

        boolean cloning() {
            return clone.filter(state -> state.stage == Stage.RUNNING).isPresent();
        }

        boolean endedBadly() {
            return clone.filter(state -> state.stage == Stage.FAILED || state.stage == Stage.CANCELLED)
                    .isPresent();
        }
    }

    /// A directory with the attributes that a client sees.
    static final class Directory {
        final String name;
        OptionalLong quotaBytes;
        long quotaFiles;
        int uid;
        int gid;
        int mode;
        final String dataPool;
        final String poolNamespace;
        final NavigableMap<String, String> files = new TreeMap<>();
        final Map<String, String> notes = new HashMap<>();

        private Directory(String name, SubvolumeSpec spec, String poolNamespace) {
            this.name = name;
            this.quotaBytes = spec.quotaBytes();
            this.uid = spec.uid();
            this.gid = spec.gid();
            this.mode = spec.mode();
            this.dataPool = spec.dataPool().orElse(POOLS.getFirst());
            this.poolNamespace = poolNamespace;
        }

        /// Returns a new data directory.
        static Directory made(VolumeId.Provisioned volume, SubvolumeSpec spec) {
            return new Directory(
                    UUID.randomUUID().toString(), spec, "fsvolumens__" + volume.group() + "_" + volume.subvolume());
        }

        /// Returns a directory outside all subvolumes, in its own RADOS namespace.
        static Directory apart(String path, String namespace) {
            SubvolumeSpec spec = new SubvolumeSpec(OptionalLong.empty(), 0, 0, 0700, Optional.empty());
            return new Directory(path, spec, namespace);
        }

        /// Returns a copy with the same contents and attributes under another name.
        Directory copy(String as) {
            SubvolumeSpec spec = new SubvolumeSpec(quotaBytes, uid, gid, mode, Optional.of(dataPool));
            Directory copy = new Directory(as, spec, poolNamespace);
            copy.quotaFiles = quotaFiles;
            copy.files.putAll(files);
            copy.notes.putAll(notes);
            return copy;
        }

        long usedBytes() {
            return files.values().stream().mapToLong(String::length).sum();
        }
    }

    /// Returns the notes on a group's directory or a data directory.
    Optional<Map<String, String>> notesAt(String path) {
        String[] parts = path.split("/", -1);
        if (parts.length == 4) {
            return entry(parts[2], parts[3]).map(entry -> entry.directoryNotes);
        }
        return parts.length == 3 && parts[1].equals("volumes")
                ? Optional.ofNullable(groups.get(parts[2])).map(group -> group.notes)
                : at(path).map(directory -> directory.notes);
    }

    /// A snapshot: a copy of the data directory.
    ///
    /// @param held the recorded size
    record SnapshotState(Instant createdAt, Directory data, OptionalLong held) {
        SnapshotState(Instant createdAt, Directory data) {
            this(createdAt, data, OptionalLong.empty());
        }
    }

    /// A clone's target, which is complete after a few queries.
    static final class CloneState {
        final Entry source;
        final String snapshot;
        Stage stage = Stage.RUNNING;
        int looksLeft;

        CloneState(Entry source, String snapshot, int looksLeft) {
            this.source = source;
            this.snapshot = snapshot;
            this.looksLeft = looksLeft;
        }
    }

    /// Returns the bytes written in a group.
    long usedBytes(GroupState group) {
        return group.subvolumes.values().stream()
                .flatMap(entry -> entry.data.stream())
                .mapToLong(Directory::usedBytes)
                .sum();
    }

    /// Returns the group of a volume.
    GroupState group(VolumeId.Provisioned volume) {
        GroupState group = groups.get(volume.group());
        if (group == null) {
            throw new DriverException.NotFound("group " + volume.group() + " does not exist");
        }
        return group;
    }

    /// Refuses other clusters.
    static void known(String cluster) {
        if (!cluster.equals(InMemoryCeph.CLUSTER)) {
            throw new DriverException.InUse("cluster " + cluster + " is not in the clusters file");
        }
    }

    /// Returns the subvolume of that name, if it exists.
    Optional<Entry> find(VolumeId.Provisioned volume) {
        known(volume.cluster());
        return volume.fileSystem().equals(InMemoryCeph.FILE_SYSTEM)
                ? entry(volume.group(), volume.subvolume())
                : Optional.empty();
    }

    /// Returns the subvolume like [#find], or throws NOT_FOUND.
    Entry mustHave(VolumeId.Provisioned volume) {
        return find(volume).orElseThrow(() -> new DriverException.NotFound("subvolume " + volume + " does not exist"));
    }

    /// Returns the data directory of a usable subvolume.
    Directory mustHaveData(VolumeId.Provisioned volume) {
        Entry entry = mustHave(volume);
        if (entry.cloning()) {
            throw new DriverException.OperationPending("subvolume " + volume + " is not ready: cloning");
        }
        return entry.data.orElseThrow(() -> new DriverException.NotFound("subvolume " + volume + " is removed"));
    }

    /// Ends all running clones.
    synchronized void endClones(Stage stage) {
        groups.values().stream()
                .flatMap(group -> group.subvolumes.values().stream())
                .filter(Entry::cloning)
                .flatMap(entry -> entry.clone.stream())
                .forEach(clone -> clone.stage = stage);
    }

    /// Returns the target subvolumes of clones of this snapshot.
    Set<String> clonesOf(Entry source, String snapshot) {
        return groups.values().stream()
                .flatMap(group -> group.subvolumes.entrySet().stream())
                .filter(named -> named.getValue().cloning()
                        && named.getValue()
                                .clone
                                .filter(clone -> clone.source == source && clone.snapshot.equals(snapshot))
                                .isPresent())
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    /// Returns the data directory at a path: of a subvolume, of its snapshot, or one that a test created.
    Optional<Directory> at(String path) {
        String[] parts = path.split("/", -1);
        if (parts.length == 5 && parts[1].equals("volumes")) {
            return entry(parts[2], parts[3]).flatMap(entry -> entry.data).filter(data -> data.name.equals(parts[4]));
        }
        if (parts.length == 7 && parts[4].equals(".snap")) {
            return entry(parts[2], parts[3])
                    .map(entry -> entry.snapshots.get(parts[5]))
                    .map(SnapshotState::data)
                    .filter(data -> data.name.equals(parts[6]));
        }
        return Optional.ofNullable(plainDirectories.get(path));
    }

    /// Returns the only data directory below a subvolume's path or its snapshot's path.
    Optional<Directory> below(String path) {
        String[] parts = path.split("/", -1);
        if (parts.length == 4) {
            return entry(parts[2], parts[3]).flatMap(entry -> entry.data);
        }
        return snapshotAt(path).map(SnapshotState::data);
    }

    /// Returns the snapshot at a path.
    Optional<SnapshotState> snapshotAt(String path) {
        String[] parts = path.split("/", -1);
        return parts.length == 6 && parts[4].equals(".snap")
                ? entry(parts[2], parts[3]).map(entry -> entry.snapshots.get(parts[5]))
                : Optional.empty();
    }

    private Optional<Entry> entry(String group, String subvolume) {
        return Optional.ofNullable(groups.get(group)).map(found -> found.subvolumes.get(subvolume));
    }
}

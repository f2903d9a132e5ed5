package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.GroupUsage;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;

/// Reads groups from their directories in one mount (`src/pybind/mgr/volumes/fs/operations` defines the layout).
/// Skips what disappears meanwhile.
record GroupDirectoryReader(Mount mount) {
    private static final String MAX_BYTES = "ceph.quota.max_bytes";
    private static final String WRITTEN = "ceph.dir.rbytes";
    private static final String SNAPSHOT_TIME = "ceph.snap.btime";
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /// Prefix of the attributes that store notes.
    static final String NOTE = "user.siphon.";

    private static final String ACCOUNT = NOTE + AccountNote.NAME;
    private static final String OVERCOMMITTED = NOTE + GroupUsage.OVERCOMMITTED;

    /// Attribute of a subvolume's directory, followed by a snapshot's name. Its value is the snapshot's time,
    /// which distinguishes it from a later one of that name, and its size in bytes.
    private static final String HELD = NOTE + "held.";

    private static final String IMAGE = NOTE + GroupUsage.IMAGE;

    /// Returns the groups, sorted by name. The mgr's own directories start with `_`.
    List<GroupUsage.GroupStanding> standings() {
        List<GroupUsage.GroupStanding> all = new ArrayList<>();
        for (MountPath name : directories(mount.locate(CephFsMounts.VOLUMES))) {
            if (!name.bytes().startsWith("_")) {
                standing(name.toString()).ifPresent(all::add);
            }
        }
        all.sort(java.util.Comparator.comparing(GroupUsage.GroupStanding::group));
        return all;
    }

    private Optional<GroupUsage.GroupStanding> standing(String group) {
        try (OpenFile directory = mount.openDirectory(mount.locate(CephFsMounts.VOLUMES + "/" + group))) {
            return Optional.of(new GroupUsage.GroupStanding(
                    group,
                    directory.number(MAX_BYTES),
                    directory.number(WRITTEN).orElse(0),
                    directory.attribute(ACCOUNT).flatMap(AccountNote::parse)));
        } catch (DriverException.NotFound gone) {
            return Optional.empty();
        }
    }

    /// Returns the groups whose directories have a note.
    Set<String> groupsWith(String note) {
        Set<String> found = new HashSet<>();
        for (MountPath name : directories(mount.locate(CephFsMounts.VOLUMES))) {
            MountPath directory = mount.locate(CephFsMounts.VOLUMES + "/" + name);
            if (!name.bytes().startsWith("_")
                    && mount.attribute(directory, NOTE + note)
                            .filter(value -> !value.isEmpty())
                            .isPresent()) {
                found.add(name.toString());
            }
        }
        return found;
    }

    /// Returns the contents of a group.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the group does not exist
    GroupUsage holdings(SubvolumeGroup group) {
        GroupUsage.GroupStanding standing =
                standing(group.name()).orElseThrow(() -> new DriverException.NotFound(group + " does not exist"));
        List<GroupUsage.Entry> entries = new ArrayList<>();
        for (MountPath name : directories(mount.locate(group.path()))) {
            entry(group.path() + "/" + name, name.toString()).ifPresent(entries::add);
        }
        return new GroupUsage(standing, entries);
    }

    private Optional<GroupUsage.Entry> entry(String path, String name) {
        MountPath place = mount.locate(path);
        try (OpenFile directory = mount.openDirectory(place)) {
            Optional<MountPath> data = data(place);
            List<GroupUsage.Snapshot> snapshots = new ArrayList<>();
            for (MountPath snapshot : directories(mount.locate(path + "/.snap"))) {
                // Names that start with `_` are snapshots of a directory above.
                if (!snapshot.bytes().startsWith("_")) {
                    snapshot(path, directory, snapshot.toString()).ifPresent(snapshots::add);
                }
            }
            return Optional.of(new GroupUsage.Entry(
                    name,
                    data.isPresent() ? size(data.get()) : OptionalLong.empty(),
                    data.isPresent(),
                    directory.number(WRITTEN).orElse(0),
                    directory.attribute(OVERCOMMITTED).filter("true"::equals).isPresent(),
                    snapshots));
        } catch (DriverException.NotFound gone) {
            return Optional.empty();
        }
    }

    private Optional<GroupUsage.Snapshot> snapshot(String subvolume, OpenFile directory, String name) {
        MountPath path = mount.locate(subvolume + "/.snap/" + name);
        try (OpenFile snapshot = mount.openDirectory(path)) {
            String time = snapshot.attribute(SNAPSHOT_TIME).orElse("");
            OptionalLong held = directory.attribute(HELD + name).stream()
                    .filter(text -> text.startsWith(time + " "))
                    .mapToLong(text -> Long.parseLong(text.substring(time.length() + 1)))
                    .findFirst();
            Optional<MountPath> data = held.isPresent() ? Optional.empty() : data(path);
            long image = directory.attribute(IMAGE + name).map(Long::parseLong).orElse(0L);
            return Optional.of(new GroupUsage.Snapshot(
                    name, held, data.isPresent() ? size(data.get()) : OptionalLong.empty(), image));
        } catch (DriverException.NotFound gone) {
            return Optional.empty();
        }
    }

    private Optional<MountPath> data(MountPath subvolume) {
        return directories(subvolume).stream()
                .filter(name -> UUID.matcher(name.bytes()).matches())
                .findFirst()
                .map(subvolume::child);
    }

    private OptionalLong size(MountPath path) {
        try (OpenFile data = mount.openDirectory(path)) {
            return data.number(MAX_BYTES);
        }
    }

    private List<MountPath> directories(MountPath path) {
        List<MountPath> names = new ArrayList<>();
        mount.list(path, entry -> {
            if (entry.isDirectory()) {
                names.add(entry.name());
            }
        });
        return names;
    }

    /// A file, by its name in its directory; see [DirectoryNode].
    record VolumeDirectoryName(DirectoryNode directory, MountPath name) {}

    /// Returns the files of a subvolume's snapshot; empty if it has more than `most` files and directories, or is
    /// deeper than [DirectoryNode#MOST_LEVELS].
    Optional<List<VolumeDirectoryName>> files(SnapshotId id, int most) {
        MountPath root = root(id);
        mount.openDirectory(root).close();
        Sample sample = new Sample(most);
        CephTreeWalk walk = new CephTreeWalk(
                (directory, from, each) -> mount.listFrom(directory.in(root), from, entry -> {
                    // Listed entries that wait are in memory as well.
                    sample.saw();
                    return each.test(entry);
                }),
                sample::isTooMuch);
        walk.work(sample);
        return sample.isTooMuch() ? Optional.empty() : Optional.of(sample.files());
    }

    /// The files found so far.
    static final class Sample implements CephTreeWalk.Visitor {
        private final int most;
        private final List<VolumeDirectoryName> files = new ArrayList<>();
        private int directories;
        private int seen;
        private boolean tooMuch;

        Sample(int most) {
            this.most = most;
        }

        boolean isTooMuch() {
            return tooMuch;
        }

        void saw() {
            seen++;
            tooMuch |= seen > most;
        }

        List<VolumeDirectoryName> files() {
            return files;
        }

        @Override
        public void enter(DirectoryNode directory) {
            directories++;
            tooMuch |= directory.isTooDeep() || files.size() + directories > most;
        }

        @Override
        public void visit(DirectoryNode directory, List<MountPath> names) {
            names.forEach(name -> files.add(new VolumeDirectoryName(directory, name)));
            tooMuch |= files.size() + directories > most;
        }

        @Override
        public void leave(DirectoryNode directory) {
            // Only its files matter, not its end.
        }
    }

    private MountPath root(SnapshotId id) {
        return mount.locate(subvolume(id) + "/.snap/" + id.name());
    }

    /// Returns the total length of files in bytes, counting those with several names once. Use a mount that has
    /// not listed their directories. A listing returns what the MDS knows of a file in a snapshot, and the client
    /// then does not ask again. A lookup waits for what a writer has not reported yet.
    long lengths(SnapshotId id, List<VolumeDirectoryName> files) {
        MountPath root = root(id);
        Set<Long> linked = new HashSet<>();
        return files.stream()
                .flatMap(file -> mount.stat(file.directory().in(root).child(file.name())).stream())
                .filter(stat -> stat.links() < 2 || linked.add(stat.inode()))
                .mapToLong(FileStat::sizeBytes)
                .sum();
    }

    /// Stores the size of a snapshot in bytes.
    void note(SnapshotId id, long held) {
        MountPath subvolume = mount.locate(subvolume(id));
        try (OpenFile directory = mount.openDirectory(subvolume);
                OpenFile snapshot = mount.openDirectory(root(id))) {
            directory.setText(
                    HELD + id.name(), snapshot.attribute(SNAPSHOT_TIME).orElse("") + " " + held);
            forgetRemoved(subvolume);
        }
    }

    private static String subvolume(SnapshotId id) {
        return SubvolumeGroup.of(id.volume()).path() + "/" + id.volume().subvolume();
    }

    /// Removes notes on deleted snapshots: they would fill a directory's room for attributes.
    private void forgetRemoved(MountPath subvolume) {
        Set<String> there = new HashSet<>();
        directories(subvolume.child(MountPath.of(".snap"))).forEach(name -> {
            there.add(HELD + name);
            there.add(IMAGE + name);
        });
        for (String name : mount.userAttributes(subvolume)) {
            if ((name.startsWith(HELD) || name.startsWith(IMAGE)) && !there.contains(name)) {
                mount.removeAttribute(name, subvolume);
            }
        }
    }
}

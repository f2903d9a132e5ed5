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

/// Groups as their directories tell (`src/pybind/mgr/volumes/fs/operations` says what is where), in one mount.
/// What goes while it is looked at is left out.
record GroupDirectoryReader(Mount mount) {
    private static final String MAX_BYTES = "ceph.quota.max_bytes";
    private static final String WRITTEN = "ceph.dir.rbytes";
    private static final String SNAPSHOT_TIME = "ceph.snap.btime";
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /// How the attributes begin in which notes are.
    static final String NOTE = "user.siphon.";

    private static final String ACCOUNT = NOTE + AccountNote.NAME;
    private static final String OVERCOMMITTED = NOTE + GroupUsage.OVERCOMMITTED;

    /// On a subvolume's directory, with a snapshot's name behind it: the snapshot's time, which tells it from a
    /// later one of that name, and what it holds.
    private static final String HELD = NOTE + "held.";

    private static final String IMAGE = NOTE + GroupUsage.IMAGE;

    /// The groups, in the order of their names. The mgr's own directories begin with `_`.
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

    /// The groups whose directories have a note.
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

    /// What is in a group.
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
                // those that begin so were taken of a directory above
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

    /// The files of a snapshot of a subvolume; empty if it has more than `most` files and directories, or
    /// is deeper than [DirectoryNode#MOST_LEVELS].
    Optional<List<VolumeDirectoryName>> files(SnapshotId id, int most) {
        MountPath root = root(id);
        mount.openDirectory(root).close();
        Sample sample = new Sample(most);
        CephTreeWalk walk = new CephTreeWalk(
                (directory, from, each) -> mount.listFrom(directory.in(root), from, entry -> {
                    // what is listed and waits is held as well
                    sample.saw();
                    return each.test(entry);
                }),
                sample::isTooMuch);
        walk.work(sample);
        return sample.isTooMuch() ? Optional.empty() : Optional.of(sample.files());
    }

    /// What was found so far.
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
            // its files are wanted, and not when it ends
        }
    }

    private MountPath root(SnapshotId id) {
        return mount.locate(subvolume(id) + "/.snap/" + id.name());
    }

    /// How long files are together, those with several names once. In a mount that has not listed their
    /// directories: a listing says what the MDS knows of a file in a snapshot, and keeps this client from asking,
    /// while a look-up waits for what a writer has yet to tell.
    long lengths(SnapshotId id, List<VolumeDirectoryName> files) {
        MountPath root = root(id);
        Set<Long> linked = new HashSet<>();
        return files.stream()
                .flatMap(file -> mount.stat(file.directory().in(root).child(file.name())).stream())
                .filter(stat -> stat.links() < 2 || linked.add(stat.inode()))
                .mapToLong(FileStat::sizeBytes)
                .sum();
    }

    /// Writes down what a snapshot holds.
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

    /// Notes on snapshots that are gone would fill the room that a directory has for attributes.
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

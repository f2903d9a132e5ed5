package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.Group;
import dev.siphon.controller.volume.Holdings;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;

/// Groups as their directories tell (`src/pybind/mgr/volumes/fs/operations` says what is where), in one mount. What
/// goes while it is looked at is left out.
record GroupTree(Mount mount) {
    private static final String VOLUMES = "/volumes";
    private static final String MAX_BYTES = "ceph.quota.max_bytes";
    private static final String WRITTEN = "ceph.dir.rbytes";
    private static final String SNAPSHOT_TIME = "ceph.snap.btime";
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /// How the attributes begin in which notes are.
    static final String NOTE = "user.siphon.";

    private static final String ACCOUNT = NOTE + AccountNote.NAME;
    private static final String OVERCOMMITTED = NOTE + Holdings.OVERCOMMITTED;

    /// On a subvolume's directory, with a snapshot's name behind it: the snapshot's time, which tells it from a later
    /// one of that name, and what it holds.
    private static final String HELD = NOTE + "held.";

    /// The groups, in the order of their names. The mgr's own directories begin with `_`.
    List<Holdings.Standing> standings() {
        List<Holdings.Standing> all = new ArrayList<>();
        for (MountPath name : directories(mount.locate(VOLUMES))) {
            if (!name.bytes().startsWith("_")) {
                standing(name.toString()).ifPresent(all::add);
            }
        }
        all.sort(java.util.Comparator.comparing(Holdings.Standing::group));
        return all;
    }

    private Optional<Holdings.Standing> standing(String group) {
        try (OpenFile directory = mount.openDirectory(mount.locate(VOLUMES + "/" + group))) {
            return Optional.of(new Holdings.Standing(
                    group,
                    directory.number(MAX_BYTES),
                    directory.number(WRITTEN).orElse(0),
                    directory.attribute(ACCOUNT).flatMap(AccountNote::parse)));
        } catch (DriverException.NotFound gone) {
            return Optional.empty();
        }
    }

    /// What is in a group.
    Holdings holdings(Group group) {
        Holdings.Standing standing =
                standing(group.name()).orElseThrow(() -> new DriverException.NotFound(group + " does not exist"));
        List<Holdings.Entry> entries = new ArrayList<>();
        for (MountPath name : directories(mount.locate(group.path()))) {
            entry(group.path() + "/" + name, name.toString()).ifPresent(entries::add);
        }
        return new Holdings(standing, entries);
    }

    private Optional<Holdings.Entry> entry(String path, String name) {
        MountPath place = mount.locate(path);
        try (OpenFile directory = mount.openDirectory(place)) {
            Optional<MountPath> data = data(place);
            List<Holdings.Snapshot> snapshots = new ArrayList<>();
            for (MountPath snapshot : directories(mount.locate(path + "/.snap"))) {
                // those that begin so were taken of a directory above
                if (!snapshot.bytes().startsWith("_")) {
                    snapshot(path, directory, snapshot.toString()).ifPresent(snapshots::add);
                }
            }
            return Optional.of(new Holdings.Entry(
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

    private Optional<Holdings.Snapshot> snapshot(String subvolume, OpenFile directory, String name) {
        MountPath path = mount.locate(subvolume + "/.snap/" + name);
        try (OpenFile snapshot = mount.openDirectory(path)) {
            String time = snapshot.attribute(SNAPSHOT_TIME).orElse("");
            OptionalLong held = directory.attribute(HELD + name).stream()
                    .filter(text -> text.startsWith(time + " "))
                    .mapToLong(text -> Long.parseLong(text.substring(time.length() + 1)))
                    .findFirst();
            Optional<MountPath> data = held.isPresent() ? Optional.empty() : data(path);
            return Optional.of(
                    new Holdings.Snapshot(name, held, data.isPresent() ? size(data.get()) : OptionalLong.empty()));
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

    /// Measures a snapshot and writes down what it holds, see [dev.siphon.controller.volume.FileTree#measure].
    long measure(SnapshotId id, int mostEntries, long otherwise) {
        String subvolume = Group.of(id.volume()).path() + "/" + id.volume().subvolume();
        MountPath path = mount.locate(subvolume + "/.snap/" + id.name());
        try (OpenFile directory = mount.openDirectory(mount.locate(subvolume));
                OpenFile snapshot = mount.openDirectory(path)) {
            long held = lengths(path, mostEntries).orElse(otherwise);
            directory.setText(
                    HELD + id.name(), snapshot.attribute(SNAPSHOT_TIME).orElse("") + " " + held);
            forgetRemoved(mount.locate(subvolume));
            return held;
        }
    }

    private OptionalLong lengths(MountPath root, int mostEntries) {
        Deque<MountPath> left = new ArrayDeque<>(List.of(root));
        Set<Long> linked = new HashSet<>();
        long[] sum = {0, 0};
        while (!left.isEmpty() && sum[1] <= mostEntries) {
            MountPath directory = left.removeLast();
            mount.listWithLengths(directory, (name, stat) -> {
                sum[1]++;
                if (stat.kind() == FileStat.Kind.DIRECTORY) {
                    left.addLast(directory.child(name));
                } else if (stat.links() < 2 || linked.add(stat.inode())) {
                    sum[0] += stat.sizeBytes();
                }
                return sum[1] <= mostEntries;
            });
        }
        return sum[1] <= mostEntries ? OptionalLong.of(sum[0]) : OptionalLong.empty();
    }

    /// Notes on snapshots that are gone would fill the room that a directory has for attributes.
    private void forgetRemoved(MountPath subvolume) {
        Set<String> there = new HashSet<>();
        directories(subvolume.child(MountPath.of(".snap"))).forEach(name -> there.add(HELD + name));
        for (String name : mount.userAttributes(subvolume)) {
            if (name.startsWith(HELD) && !there.contains(name)) {
                mount.removeAttribute(name, subvolume);
            }
        }
    }
}

package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.call.ReconnectingHandle;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.GroupUsage;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Implements [FileTree] with libcephfs.
final class CephFileTree implements FileTree {
    private static final String MAX_BYTES = "ceph.quota.max_bytes";
    private static final String MAX_FILES = "ceph.quota.max_files";
    private static final String SNAPSHOT_TIME = "ceph.snap.btime";
    private static final String NOTE = GroupDirectoryReader.NOTE;
    private static final String LAYOUT = "ceph.dir.layout";
    private static final Pattern TIME = Pattern.compile("([0-9]{1,12})[.]([0-9]{9})");
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    private final CephFileSystems fileSystems;
    private final TreeFlatteners flattenings;

    CephFileTree(CephFileSystems fileSystems, TreeFlatteners flattenings) {
        this.fileSystems = fileSystems;
        this.flattenings = flattenings;
    }

    @Override
    public OptionalLong quotaBytes(String cluster, String fileSystem, String path) {
        return inDirectory("get quota", cluster, fileSystem, path, directory -> directory.number(MAX_BYTES));
    }

    @Override
    public void setQuotaBytes(String cluster, String fileSystem, String path, long bytes) {
        inDirectory("set quota", cluster, fileSystem, path, directory -> {
            directory.setNumber(MAX_BYTES, bytes);
            return true;
        });
    }

    @Override
    public OptionalLong quotaFiles(String cluster, String fileSystem, String path) {
        return inDirectory("get quota", cluster, fileSystem, path, directory -> directory.number(MAX_FILES));
    }

    @Override
    public void setQuotaFiles(String cluster, String fileSystem, String path, long files) {
        inDirectory("set quota", cluster, fileSystem, path, directory -> {
            directory.setNumber(MAX_FILES, files);
            return true;
        });
    }

    @Override
    public void setMode(String cluster, String fileSystem, String path, int mode) {
        inDirectory("set mode", cluster, fileSystem, path, directory -> {
            directory.setMode(mode);
            return true;
        });
    }

    @Override
    public long fileCount(String cluster, String fileSystem, String path) {
        return inDirectory(
                "count files",
                cluster,
                fileSystem,
                path,
                directory -> directory.number("ceph.dir.rfiles").orElse(0));
    }

    @Override
    public long writtenBytes(String cluster, String fileSystem, String path) {
        return whereThereIsOne(
                0L,
                () -> inDirectory(
                        "count bytes",
                        cluster,
                        fileSystem,
                        path,
                        directory -> directory.number("ceph.dir.rbytes").orElse(0)));
    }

    @Override
    public String dataDirectory(String cluster, String fileSystem, String path) {
        List<String> found = fileSystems.client(cluster, fileSystem, path).call("find data directory", mount -> {
            List<String> names = new ArrayList<>();
            MountPath directory = mount.locate(path);
            mount.openDirectory(directory).close();
            mount.list(directory, entry -> {
                if (entry.isDirectory() && UUID.matcher(entry.name().bytes()).matches()) {
                    names.add(entry.name().bytes());
                }
            });
            return names;
        });
        if (found.size() > 1) {
            throw new DriverException.BackendFault(path + " of file system " + fileSystem + " in cluster " + cluster
                    + " has several data directories: " + found);
        }
        if (found.isEmpty()) {
            throw new DriverException.NotFound(
                    path + " of file system " + fileSystem + " in cluster " + cluster + " has no data directory");
        }
        return path + "/" + found.getFirst();
    }

    @Override
    public Instant takenAt(String cluster, String fileSystem, String path) {
        return inDirectory("get time of snapshot", cluster, fileSystem, path, directory -> {
            String text = directory.attribute(SNAPSHOT_TIME).orElse("");
            Matcher time = TIME.matcher(text);
            if (!time.matches()) {
                throw new DriverException.BackendFault(path + " of file system " + fileSystem + " in cluster " + cluster
                        + " has no time of a snapshot: " + SNAPSHOT_TIME + " is " + QuotedText.of(text));
            }
            return Instant.ofEpochSecond(Long.parseLong(time.group(1)), Long.parseLong(time.group(2)));
        });
    }

    @Override
    public Layout layout(String cluster, String fileSystem, String path) {
        return inDirectory("get layout", cluster, fileSystem, path, directory -> {
            String pool = directory
                    .attribute(LAYOUT + ".pool")
                    .orElseThrow(() -> new DriverException.InUse(path + " of file system " + fileSystem + " in cluster "
                            + cluster + " has no layout of its own"));
            return new Layout(
                    pool, directory.attribute(LAYOUT + ".pool_namespace").orElse(""));
        });
    }

    @Override
    public Optional<String> note(String cluster, String fileSystem, String path, String name) {
        return SubvolumeGroup.at(cluster, fileSystem, path)
                .map(group -> noteIn(group, path, name))
                .orElseGet(() -> whereThereIsOne(
                        Optional.empty(),
                        () -> fileSystems
                                .client(cluster, fileSystem, path)
                                .call("get note", mount -> mount.attribute(mount.locate(path), NOTE + name))))
                .filter(value -> !value.isEmpty());
    }

    private Optional<String> noteIn(SubvolumeGroup group, String path, String name) {
        // an RPC often begins with a note, and continues with calls of that client
        fileSystems.warmUp(group.cluster(), group.fileSystem());
        return fileSystems.probes().attribute(group, path, NOTE + name);
    }

    @Override
    public void setNote(String cluster, String fileSystem, String path, String name, String value) {
        boolean _ = fileSystems.client(cluster, fileSystem, path).call("set note", mount -> {
            if (value.isEmpty()) {
                mount.removeAttribute(NOTE + name, mount.locate(path));
            } else {
                mount.setAttribute(mount.locate(path), NOTE + name, value);
            }
            return true;
        });
    }

    @Override
    public void makeDirectory(String cluster, String fileSystem, String path, String namespace) {
        boolean _ = fileSystems.client(cluster, fileSystem, path).call("make directory", mount -> {
            mount.makeDirectory(mount.locate(path));
            try (OpenFile directory = mount.openDirectory(mount.locate(path))) {
                if (directory.attribute(LAYOUT + ".pool_namespace").isEmpty()) {
                    directory.setText(LAYOUT + ".pool_namespace", namespace);
                }
            }
            return true;
        });
    }

    @Override
    public void removeDirectory(String cluster, String fileSystem, String path) {
        boolean _ = fileSystems.client(cluster, fileSystem, path).call("remove directory", mount -> {
            MountPath directory = mount.locate(path);
            List<MountPath> files = new ArrayList<>();
            try {
                mount.openDirectory(directory).close();
                mount.list(directory, entry -> files.add(entry.name()));
                files.forEach(name -> mount.unlink(directory.child(name)));
                mount.removeDirectory(directory);
                return true;
            } catch (DriverException.NotFound gone) {
                return false;
            }
        });
    }

    @Override
    public List<String> directories(String cluster, String fileSystem, String path) {
        return whereThereIsOne(
                List.of(),
                () -> fileSystems.client(cluster, fileSystem, path).call("list directory", mount -> {
                    List<String> names = new ArrayList<>();
                    MountPath directory = mount.locate(path);
                    mount.openDirectory(directory).close();
                    mount.list(directory, entry -> {
                        if (entry.isDirectory()) {
                            names.add(entry.name().toString());
                        }
                    });
                    return names.stream().sorted().toList();
                }));
    }

    @Override
    public void flatten(VolumeId.Provisioned volume) {
        flattenings.flatten(volume);
    }

    @Override
    public Optional<Digested> digest(String cluster, String fileSystem, String path) {
        return fileSystems.client(cluster, fileSystem, path).call("read file", mount -> {
            try (OpenFile file = mount.open(mount.locate(path), OpenFlags.READ)) {
                return Optional.of(DigestedFile.read(file));
            } catch (DriverException.NotFound missing) {
                return Optional.empty();
            }
        });
    }

    @Override
    public Copy copy(String cluster, String fileSystem, String source, String target, int uid, int gid) {
        return fileSystems.copy(cluster, fileSystem, new TreeCopy.Order(source, target, uid, gid));
    }

    @Override
    public List<GroupUsage.GroupStanding> standings(String cluster, String fileSystem) {
        return whereThereIsOne(
                List.of(),
                () -> fileSystems
                        .client(cluster, fileSystem)
                        .call("list groups", mount -> new GroupDirectoryReader(mount).standings()));
    }

    @Override
    public Set<String> groupsWith(String cluster, String fileSystem, String note) {
        return whereThereIsOne(
                Set.of(),
                () -> fileSystems
                        .client(cluster, fileSystem)
                        .call("list groups", mount -> new GroupDirectoryReader(mount).groupsWith(note)));
    }

    /// @param none the result if the path does not exist yet; the first group creates its directory
    private static <T> T whereThereIsOne(T none, Supplier<T> call) {
        try {
            return ReconnectingHandle.unlessNothingIsThere(none, call);
        } catch (DriverException.NotFound missing) {
            return none;
        }
    }

    @Override
    public GroupUsage holdings(SubvolumeGroup group) {
        return fileSystems
                .clientOnceAsked(group.cluster(), group.fileSystem(), group.path())
                .call("sum up group", mount -> new GroupDirectoryReader(mount).holdings(group));
    }

    @Override
    public long measure(SnapshotId snapshot, int mostEntries, long otherwise) {
        return fileSystems.inTurn(snapshot.volume().cluster(), () -> measureNow(snapshot, mostEntries, otherwise));
    }

    private long measureNow(SnapshotId snapshot, int mostEntries, long otherwise) {
        String cluster = snapshot.volume().cluster();
        String fileSystem = snapshot.volume().fileSystem();
        Optional<List<GroupDirectoryReader.VolumeDirectoryName>> files = fileSystems
                .client(cluster, fileSystem)
                .call("list snapshot", mount -> new GroupDirectoryReader(mount).files(snapshot, mostEntries));
        long held = files.isEmpty()
                ? otherwise
                : fileSystems
                        .lookUps(cluster, fileSystem)
                        .call(
                                "measure snapshot",
                                mount -> new GroupDirectoryReader(mount).lengths(snapshot, files.get()));
        boolean _ = fileSystems.client(cluster, fileSystem).call("note snapshot", mount -> {
            new GroupDirectoryReader(mount).note(snapshot, held);
            return true;
        });
        return held;
    }

    private <T> T inDirectory(
            String operation, String cluster, String fileSystem, String path, Function<OpenFile, T> body) {
        return fileSystems.client(cluster, fileSystem, path).call(operation, mount -> {
            try (OpenFile directory = mount.openDirectory(mount.locate(path))) {
                return body.apply(directory);
            }
        });
    }
}

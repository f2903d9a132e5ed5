package dev.siphon.controller.volume;

import dev.siphon.controller.volume.InMemoryTree.Directory;
import dev.siphon.controller.volume.InMemoryTree.Entry;
import dev.siphon.controller.volume.InMemoryTree.GroupState;
import dev.siphon.controller.volume.Subvolumes.CloneProgress.Stage;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/// A Ceph in memory that behaves as the contracts define: one cluster `lab` with the file system `fs`. It runs one
/// command at a time, like the mgr's module `volumes`.
public final class InMemoryCeph {
    /// The id of the cluster.
    public static final String CLUSTER = "lab";

    /// The name of its file system.
    public static final String FILE_SYSTEM = "fs";

    private final InMemoryTree tree = new InMemoryTree();
    private final List<NodeId> fenced = new ArrayList<>();
    private final InMemoryFiles files = new InMemoryFiles(tree);
    private boolean quiesces = true;
    private boolean quiesceHolds = true;
    private Optional<String> trouble = Optional.empty();

    /// Returns the ports of this Ceph.
    public CephPorts ports() {
        return new CephPorts(
                new InMemoryClusters(), new InMemorySubvolumes(tree), files, new InMemoryQuiesce(), this::fence);
    }

    /// Sets how often a clone must be queried until it has ended; initially 1.
    public void clonesTake(int looks) {
        synchronized (tree) {
            tree.clonesTake = looks;
        }
    }

    /// Sets whether the cluster can quiesce, and whether a quiesce lasts until it is released.
    void quiesce(boolean can, boolean holds) {
        synchronized (tree) {
            quiesces = can;
            quiesceHolds = holds;
        }
    }

    /// Keeps copies running until [#endCopies].
    void holdCopies() {
        files.holdCopies();
    }

    void endCopies() {
        files.endCopies();
    }

    void trouble(String what) {
        synchronized (tree) {
            trouble = Optional.of(what);
        }
    }

    /// Leaves a subvolume in the state of a mgr that died while creating it.
    void breakSubvolume(VolumeId.Provisioned volume) {
        synchronized (tree) {
            Entry entry = tree.groups
                    .computeIfAbsent(volume.group(), _ -> new GroupState())
                    .subvolumes
                    .computeIfAbsent(volume.subvolume(), _ -> new Entry());
            entry.broken = true;
        }
    }

    /// Returns all metadata of a subvolume, as `ceph fs subvolume metadata ls` does.
    public Map<String, String> metadata(VolumeId.Provisioned volume) {
        synchronized (tree) {
            return Map.copyOf(tree.mustHave(volume).notes);
        }
    }

    /// Makes all running clones fail.
    void failClones() {
        tree.endClones(Stage.FAILED);
    }

    /// Completes all running clones.
    void endClones() {
        tree.endClones(Stage.COMPLETE);
    }

    /// Removes an empty group without the driver's knowledge.
    void removeGroup(String group) {
        synchronized (tree) {
            tree.groups.remove(group);
        }
    }

    /// Writes a file outside all subvolumes.
    public void file(String path, String text) {
        synchronized (tree) {
            int name = path.lastIndexOf('/') + 1;
            tree.at(path.substring(0, name - 1)).orElseThrow().files.put(path.substring(name), text);
        }
    }

    /// Returns whether a directory outside all subvolumes exists.
    public boolean hasDirectory(String path) {
        synchronized (tree) {
            return tree.plainDirectories.containsKey(path);
        }
    }

    /// Creates a directory outside all subvolumes.
    void directory(String path, OptionalLong quotaBytes) {
        synchronized (tree) {
            VolumeId.Provisioned unused = new VolumeId.Provisioned(CLUSTER, FILE_SYSTEM, "a", "v");
            tree.plainDirectories.put(
                    path,
                    Directory.made(unused, new Subvolumes.SubvolumeSpec(quotaBytes, 0, 0, 0755, Optional.empty())));
        }
    }

    /// Writes a file into a volume.
    public void write(VolumeId volume, String file, String contents) {
        synchronized (tree) {
            data(volume).files.put(file, contents);
        }
    }

    /// Returns the files of a volume, by path.
    Map<String, String> files(VolumeId volume) {
        synchronized (tree) {
            return new TreeMap<>(data(volume).files);
        }
    }

    /// Returns the file limit of a volume; 0 for none.
    long quotaFiles(VolumeId volume) {
        synchronized (tree) {
            return data(volume).quotaFiles;
        }
    }

    /// Returns the whole state as text, so that tests can compare it. Omits snapshots that hold nothing back, and
    /// data that nobody can see.
    public List<String> everything() {
        synchronized (tree) {
            List<String> all = new ArrayList<>();
            tree.groups.forEach((group, state) -> state.subvolumes.forEach((name, entry) -> {
                all.add(group + "/" + name + " "
                        + entry.data
                                .map(data -> data.quotaBytes + " " + data.uid + ":" + data.gid + " "
                                        + Integer.toOctalString(data.mode) + " " + data.files)
                                .orElse("retained")
                        + " " + entry.notes + (entry.cloning() ? " cloning" : "")
                        + (entry.endedBadly() ? " ended badly" : "") + (entry.broken ? " broken" : ""));
                entry.snapshots.keySet().forEach(snapshot -> all.add(group + "/" + name + "@" + snapshot));
            }));
            return all;
        }
    }

    /// Returns the fenced nodes, in order.
    List<NodeId> fenced() {
        synchronized (tree) {
            return List.copyOf(fenced);
        }
    }

    private Directory data(VolumeId volume) {
        return switch (volume) {
            case VolumeId.WithPath fixed -> tree.at(fixed.path()).orElseThrow();
            case VolumeId.Provisioned own -> tree.find(own).orElseThrow().data.orElseThrow();
        };
    }

    private int fence(VolumeId.Provisioned volume, NodeId node) {
        synchronized (tree) {
            InMemoryTree.known(volume.cluster());
            fenced.add(node);
            return 1;
        }
    }

    private final class InMemoryClusters implements Clusters {
        @Override
        public String defaultCluster() {
            return CLUSTER;
        }

        @Override
        public List<String> ids() {
            return List.of(CLUSTER);
        }

        @Override
        public List<String> monitors(String cluster) {
            named(cluster);
            return List.of("192.0.2.1");
        }

        @Override
        public List<FileSystem> fileSystems(String cluster) {
            named(cluster);
            return List.of(new FileSystem(FILE_SYSTEM, InMemoryTree.POOLS));
        }

        @Override
        public Optional<String> trouble(String cluster, Duration deadline) {
            synchronized (tree) {
                return trouble;
            }
        }

        private static void named(String cluster) {
            if (!cluster.equals(CLUSTER)) {
                throw new DriverException.InvalidRequest(
                        "cluster " + cluster + " is not in the clusters file, which has [" + CLUSTER + "]");
            }
        }
    }

    private final class InMemoryQuiesce implements Quiesce {
        @Override
        public boolean acquire(String set, List<VolumeId.Provisioned> members, Duration timeout, Duration expiration) {
            synchronized (tree) {
                members.forEach(tree::mustHaveData);
                return quiesces;
            }
        }

        @Override
        public boolean release(String set, List<VolumeId.Provisioned> members) {
            synchronized (tree) {
                return quiesceHolds;
            }
        }
    }
}

package dev.siphon.controller.volume;

import dev.siphon.controller.volume.InMemoryTree.Directory;
import dev.siphon.controller.volume.InMemoryTree.Entry;
import dev.siphon.controller.volume.InMemoryTree.GroupState;
import dev.siphon.controller.volume.InMemoryTree.SnapshotState;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/// The fake's [FileTree].
final class InMemoryFiles implements FileTree {
    private final InMemoryTree tree;
    private final List<CompletableFuture<Void>> held = new ArrayList<>();
    private boolean holds;

    InMemoryFiles(InMemoryTree tree) {
        this.tree = tree;
    }

    /// Keeps copies running until [#endCopies].
    void holdCopies() {
        synchronized (tree) {
            holds = true;
        }
    }

    void endCopies() {
        synchronized (tree) {
            holds = false;
            held.forEach(copy -> copy.complete(null));
            held.clear();
        }
    }

    private Directory at(String cluster, String path) {
        InMemoryTree.known(cluster);
        return tree.at(path).orElseThrow(() -> new DriverException.NotFound(path + " does not exist"));
    }

    private GroupState group(String cluster, String name) {
        InMemoryTree.known(cluster);
        return Optional.ofNullable(tree.groups.get(name))
                .orElseThrow(() -> new DriverException.NotFound("group " + name + " does not exist"));
    }

    @Override
    public List<String> directories(String cluster, String fileSystem, String path) {
        synchronized (tree) {
            InMemoryTree.known(cluster);
            if (path.equals("/volumes")) {
                return List.copyOf(tree.groups.keySet());
            }
            return tree.plainDirectories.keySet().stream()
                    .filter(each -> each.startsWith(path + "/"))
                    .map(each -> each.substring(path.length() + 1).split("/", -1)[0])
                    .distinct()
                    .sorted()
                    .toList();
        }
    }

    @Override
    public void flatten(VolumeId.Provisioned volume) {
        // the fake removes trees at once, however deep
        InMemoryTree.known(volume.cluster());
    }

    @Override
    public List<GroupUsage.GroupStanding> standings(String cluster, String fileSystem) {
        synchronized (tree) {
            InMemoryTree.known(cluster);
            return tree.groups.keySet().stream().map(this::standing).toList();
        }
    }

    @Override
    public Set<String> groupsWith(String cluster, String fileSystem, String note) {
        synchronized (tree) {
            InMemoryTree.known(cluster);
            return tree.groups.entrySet().stream()
                    .filter(group ->
                            !group.getValue().notes.getOrDefault(note, "").isEmpty())
                    .map(Map.Entry::getKey)
                    .collect(Collectors.toSet());
        }
    }

    private GroupUsage.GroupStanding standing(String name) {
        GroupState group = Optional.ofNullable(tree.groups.get(name)).orElseThrow();
        return new GroupUsage.GroupStanding(
                name,
                group.quota,
                tree.usedBytes(group),
                Optional.ofNullable(group.notes.get(AccountNote.NAME)).flatMap(AccountNote::parse));
    }

    @Override
    public GroupUsage holdings(SubvolumeGroup group) {
        synchronized (tree) {
            GroupState state = group(group.cluster(), group.name());
            List<GroupUsage.Entry> entries = new ArrayList<>();
            state.subvolumes.forEach((name, entry) -> entries.add(new GroupUsage.Entry(
                    name,
                    entry.cloning()
                            ? OptionalLong.empty()
                            : entry.data.map(data -> data.quotaBytes).orElse(OptionalLong.empty()),
                    entry.data.isPresent(),
                    entry.data.map(Directory::usedBytes).orElse(0L),
                    entry.directoryNotes.containsKey(GroupUsage.OVERCOMMITTED),
                    entry.snapshots.entrySet().stream()
                            .map(each -> new GroupUsage.Snapshot(
                                    each.getKey(),
                                    each.getValue().held(),
                                    each.getValue().data().quotaBytes,
                                    Long.parseLong(
                                            entry.directoryNotes.getOrDefault(GroupUsage.IMAGE + each.getKey(), "0"))))
                            .toList())));
            return new GroupUsage(standing(group.name()), entries);
        }
    }

    @Override
    public long measure(SnapshotId snapshot, int mostEntries, long otherwise) {
        synchronized (tree) {
            Entry entry = tree.mustHave(snapshot.volume());
            SnapshotState taken = Optional.ofNullable(entry.snapshots.get(snapshot.name()))
                    .orElseThrow(() -> new DriverException.NotFound(snapshot + " does not exist"));
            long held = taken.data().files.size() > mostEntries
                    ? otherwise
                    : taken.data().usedBytes();
            entry.snapshots.put(
                    snapshot.name(), new SnapshotState(taken.createdAt(), taken.data(), OptionalLong.of(held)));
            return held;
        }
    }

    @Override
    public long writtenBytes(String cluster, String fileSystem, String path) {
        synchronized (tree) {
            GroupState group = tree.groups.get(path.substring(path.lastIndexOf('/') + 1));
            InMemoryTree.known(cluster);
            return group == null ? 0 : tree.usedBytes(group);
        }
    }

    @Override
    public OptionalLong quotaBytes(String cluster, String fileSystem, String path) {
        synchronized (tree) {
            GroupState ofGroup = tree.groups.get(path.substring(path.lastIndexOf('/') + 1));
            if (ofGroup != null) {
                InMemoryTree.known(cluster);
                return ofGroup.quota;
            }
            return at(cluster, path).quotaBytes;
        }
    }

    @Override
    public void setQuotaBytes(String cluster, String fileSystem, String path, long bytes) {
        synchronized (tree) {
            OptionalLong quota = bytes == 0 ? OptionalLong.empty() : OptionalLong.of(bytes);
            GroupState ofGroup = tree.groups.get(path.substring(path.lastIndexOf('/') + 1));
            if (ofGroup == null) {
                at(cluster, path).quotaBytes = quota;
            } else {
                ofGroup.quota = quota;
            }
        }
    }

    @Override
    public OptionalLong quotaFiles(String cluster, String fileSystem, String path) {
        synchronized (tree) {
            long limit = at(cluster, path).quotaFiles;
            return limit == 0 ? OptionalLong.empty() : OptionalLong.of(limit);
        }
    }

    @Override
    public void setQuotaFiles(String cluster, String fileSystem, String path, long files) {
        synchronized (tree) {
            at(cluster, path).quotaFiles = files;
        }
    }

    @Override
    public void setMode(String cluster, String fileSystem, String path, int mode) {
        synchronized (tree) {
            at(cluster, path).mode = mode;
        }
    }

    @Override
    public long fileCount(String cluster, String fileSystem, String path) {
        synchronized (tree) {
            String[] parts = path.split("/", -1);
            Entry entry = Optional.ofNullable(tree.groups.get(parts[2]))
                    .map(group -> group.subvolumes.get(parts[3]))
                    .orElseThrow(() -> new DriverException.NotFound(path + " does not exist"));
            return 1L + entry.data.map(data -> data.files.size()).orElse(0);
        }
    }

    @Override
    public String dataDirectory(String cluster, String fileSystem, String path) {
        synchronized (tree) {
            InMemoryTree.known(cluster);
            return tree.below(path)
                    .map(data -> path + "/" + data.name)
                    .orElseThrow(() -> new DriverException.NotFound(path + " has no data directory"));
        }
    }

    @Override
    public Instant takenAt(String cluster, String fileSystem, String path) {
        synchronized (tree) {
            InMemoryTree.known(cluster);
            return tree.snapshotAt(path)
                    .orElseThrow(() -> new DriverException.NotFound(path + " does not exist"))
                    .createdAt();
        }
    }

    @Override
    public Layout layout(String cluster, String fileSystem, String path) {
        synchronized (tree) {
            Directory directory = at(cluster, path);
            return new Layout(directory.dataPool, directory.poolNamespace);
        }
    }

    @Override
    public Optional<String> note(String cluster, String fileSystem, String path, String name) {
        synchronized (tree) {
            InMemoryTree.known(cluster);
            return tree.notesAt(path).flatMap(notes -> Optional.ofNullable(notes.get(name)));
        }
    }

    @Override
    public void setNote(String cluster, String fileSystem, String path, String name, String value) {
        synchronized (tree) {
            InMemoryTree.known(cluster);
            Map<String, String> notes =
                    tree.notesAt(path).orElseThrow(() -> new DriverException.NotFound(path + " does not exist"));
            if (value.isEmpty()) {
                notes.remove(name);
            } else {
                notes.put(name, value);
            }
        }
    }

    @Override
    public void makeDirectory(String cluster, String fileSystem, String path, String namespace) {
        synchronized (tree) {
            InMemoryTree.known(cluster);
            tree.plainDirectories.putIfAbsent(path, Directory.apart(path, namespace));
        }
    }

    @Override
    public void removeDirectory(String cluster, String fileSystem, String path) {
        synchronized (tree) {
            InMemoryTree.known(cluster);
            tree.plainDirectories.remove(path);
        }
    }

    @Override
    public Optional<Digested> digest(String cluster, String fileSystem, String path) {
        synchronized (tree) {
            InMemoryTree.known(cluster);
            int name = path.lastIndexOf('/') + 1;
            return tree.at(path.substring(0, name - 1))
                    .flatMap(directory -> Optional.ofNullable(directory.files.get(path.substring(name))))
                    .map(text -> new Digested(
                            Digest.of(ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1))),
                            text.substring(0, Math.min(text.length(), Digested.BEGINNING_BYTES))));
        }
    }

    @Override
    public Copy copy(String cluster, String fileSystem, String source, String target, int uid, int gid) {
        synchronized (tree) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            LongAdder bytes = new LongAdder();
            LongAdder entries = new LongAdder();
            Optional<Directory> from = tree.at(source);
            if (from.isEmpty()) {
                done.completeExceptionally(new DriverException.NotFound(source + " does not exist"));
            } else {
                at(cluster, target).files.putAll(from.get().files);
                bytes.add(from.get().usedBytes());
                entries.add(from.get().files.size());
                if (holds) {
                    held.add(done);
                } else {
                    done.complete(null);
                }
            }
            return new Copy(done, bytes, entries);
        }
    }
}

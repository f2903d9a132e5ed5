package dev.siphon.controller.volume;

import dev.siphon.controller.volume.InMemoryTree.Directory;
import dev.siphon.controller.volume.InMemoryTree.Entry;
import dev.siphon.csi.DriverException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;

/// [FileTree] of the fake.
final class InMemoryFiles implements FileTree {
    private final InMemoryTree tree;
    private final List<CompletableFuture<Void>> held = new ArrayList<>();
    private boolean holds;

    InMemoryFiles(InMemoryTree tree) {
        this.tree = tree;
    }

    /// Keeps copies from ending until [#endCopies].
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

    @Override
    public OptionalLong quotaBytes(String cluster, String fileSystem, String path) {
        synchronized (tree) {
            return at(cluster, path).quotaBytes;
        }
    }

    @Override
    public void setQuotaBytes(String cluster, String fileSystem, String path, long bytes) {
        synchronized (tree) {
            at(cluster, path).quotaBytes = bytes == 0 ? OptionalLong.empty() : OptionalLong.of(bytes);
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

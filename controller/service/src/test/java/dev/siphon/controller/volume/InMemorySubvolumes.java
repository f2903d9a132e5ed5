package dev.siphon.controller.volume;

import dev.siphon.controller.volume.InMemoryTree.CloneState;
import dev.siphon.controller.volume.InMemoryTree.Directory;
import dev.siphon.controller.volume.InMemoryTree.Entry;
import dev.siphon.controller.volume.InMemoryTree.GroupState;
import dev.siphon.controller.volume.InMemoryTree.SnapshotState;
import dev.siphon.controller.volume.Subvolumes.CloneProgress.Stage;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/// The fake's [Subvolumes].
final class InMemorySubvolumes implements Subvolumes {
    private static final int MOST_SNAPSHOTS = 100;
    private static final long POOL_BYTES = 1L << 50;

    private final InMemoryTree tree;

    InMemorySubvolumes(InMemoryTree tree) {
        this.tree = tree;
    }

    @Override
    public void createGroup(SubvolumeGroup group, OptionalLong quotaBytes, Optional<String> dataPool) {
        synchronized (tree) {
            InMemoryTree.known(group.cluster());
            GroupState state = tree.groups.computeIfAbsent(group.name(), _ -> new GroupState());
            if (quotaBytes.isPresent()) {
                state.quota = quotaBytes;
            }
        }
    }

    @Override
    public List<String> groups(String cluster, String fileSystem) {
        synchronized (tree) {
            InMemoryTree.known(cluster);
            return List.copyOf(tree.groups.keySet());
        }
    }

    @Override
    public Optional<GroupSpace> groupUsage(SubvolumeGroup group) {
        synchronized (tree) {
            InMemoryTree.known(group.cluster());
            return Optional.ofNullable(tree.groups.get(group.name()))
                    .map(state -> new GroupSpace(
                            state.quota,
                            state.subvolumes.values().stream()
                                    .flatMap(entry -> entry.data.stream())
                                    .mapToLong(Directory::usedBytes)
                                    .sum()));
        }
    }

    @Override
    public Optional<List<String>> list(SubvolumeGroup group) {
        synchronized (tree) {
            InMemoryTree.known(group.cluster());
            return Optional.ofNullable(tree.groups.get(group.name()))
                    .map(state -> List.copyOf(state.subvolumes.keySet()));
        }
    }

    @Override
    public void create(VolumeId.Provisioned volume, SubvolumeSpec spec) {
        synchronized (tree) {
            InMemoryTree.known(volume.cluster());
            GroupState group = tree.group(volume);
            Entry entry = group.subvolumes.computeIfAbsent(volume.subvolume(), _ -> new Entry());
            if (entry.cloning()) {
                throw new DriverException.OperationPending(volume + " is being cloned into");
            }
            if (entry.data.isPresent()) {
                Directory data = entry.data.get();
                data.quotaBytes = spec.quotaBytes();
                data.uid = spec.uid();
                data.gid = spec.gid();
                data.mode = spec.mode();
            } else {
                entry.data = Optional.of(Directory.made(volume, spec));
                entry.broken = false;
                entry.notes.clear();
            }
        }
    }

    @Override
    public Optional<Subvolume> find(VolumeId.Provisioned volume) {
        synchronized (tree) {
            return tree.find(volume).map(entry -> found(volume, entry));
        }
    }

    private static Subvolume found(VolumeId.Provisioned volume, Entry entry) {
        if (entry.broken) {
            return without(Subvolume.State.BROKEN);
        }
        if (entry.endedBadly()) {
            return without(Subvolume.State.CLONE_ENDED_BADLY);
        }
        return entry.data
                .map(data -> new Subvolume(
                        entry.cloning() ? Subvolume.State.CLONING : Subvolume.State.READY,
                        Optional.of(SubvolumeGroup.pathOf(volume) + "/" + data.name),
                        data.quotaBytes,
                        data.usedBytes(),
                        data.uid,
                        data.gid,
                        data.mode,
                        data.dataPool,
                        data.poolNamespace))
                .orElseGet(() -> without(Subvolume.State.RETAINED));
    }

    private static Subvolume without(Subvolume.State state) {
        return new Subvolume(state, Optional.empty(), OptionalLong.empty(), 0, 0, 0, 0, "", "");
    }

    @Override
    public void resize(VolumeId.Provisioned volume, long quotaBytes) {
        synchronized (tree) {
            tree.mustHaveData(volume).quotaBytes = OptionalLong.of(quotaBytes);
        }
    }

    @Override
    public void remove(VolumeId.Provisioned volume) {
        synchronized (tree) {
            Optional<Entry> found = tree.find(volume);
            if (found.isEmpty()) {
                return;
            }
            Entry entry = found.get();
            if (entry.cloning()) {
                throw new DriverException.OperationPending("subvolume " + volume + " is being cloned into");
            }
            entry.data = Optional.empty();
            entry.clone = Optional.empty();
            entry.broken = false;
            entry.notes.clear();
            dropIfEmpty(volume, entry);
        }
    }

    private void dropIfEmpty(VolumeId.Provisioned volume, Entry entry) {
        if (entry.data.isEmpty() && entry.snapshots.isEmpty()) {
            tree.group(volume).subvolumes.remove(volume.subvolume());
        }
    }

    @Override
    public Map<String, String> notes(VolumeId.Provisioned volume) {
        synchronized (tree) {
            tree.mustHaveData(volume);
            Map<String, String> notes = new TreeMap<>(tree.mustHave(volume).notes);
            notes.keySet().removeIf(key -> !key.startsWith(SubvolumeMetadata.PREFIX));
            return notes;
        }
    }

    @Override
    public void setNote(VolumeId.Provisioned volume, String key, String value) {
        synchronized (tree) {
            tree.mustHaveData(volume);
            tree.mustHave(volume).notes.put(key, value);
        }
    }

    @Override
    public void removeNote(VolumeId.Provisioned volume, String key) {
        synchronized (tree) {
            tree.find(volume).ifPresent(entry -> entry.notes.remove(key));
        }
    }

    @Override
    public List<String> snapshots(VolumeId.Provisioned volume) {
        synchronized (tree) {
            return tree.find(volume)
                    .map(entry -> List.copyOf(entry.snapshots.keySet()))
                    .orElse(List.of());
        }
    }

    @Override
    public void createSnapshot(SnapshotId snapshot) {
        synchronized (tree) {
            Directory data = tree.mustHaveData(snapshot.volume());
            Entry entry = tree.mustHave(snapshot.volume());
            if (entry.snapshots.containsKey(snapshot.name())) {
                return;
            }
            if (entry.snapshots.size() == MOST_SNAPSHOTS) {
                throw new DriverException.QuotaExhausted("EMLINK: too many snapshots of " + snapshot.volume());
            }
            entry.snapshots.put(snapshot.name(), new SnapshotState(Instant.now(), data.copy(data.name)));
        }
    }

    @Override
    public Optional<Snapshot> findSnapshot(SnapshotId snapshot) {
        synchronized (tree) {
            return tree.find(snapshot.volume())
                    .flatMap(entry -> Optional.ofNullable(entry.snapshots.get(snapshot.name()))
                            .map(found -> new Snapshot(found.data().dataPool, tree.clonesOf(entry, snapshot.name()))));
        }
    }

    @Override
    public void removeSnapshot(SnapshotId snapshot) {
        synchronized (tree) {
            tree.find(snapshot.volume()).ifPresent(entry -> {
                if (!tree.clonesOf(entry, snapshot.name()).isEmpty()) {
                    throw new DriverException.OperationPending("EAGAIN: snapshot " + snapshot + " has pending clones");
                }
                entry.snapshots.remove(snapshot.name());
                dropIfEmpty(snapshot.volume(), entry);
            });
        }
    }

    @Override
    public void startClone(SnapshotId source, VolumeId.Provisioned target) {
        synchronized (tree) {
            Entry from = tree.mustHave(source.volume());
            SnapshotState snapshot = from.snapshots.get(source.name());
            if (snapshot == null) {
                throw new DriverException.NotFound("snapshot " + source + " does not exist");
            }
            if (tree.find(target).filter(entry -> entry.data.isPresent()).isPresent()) {
                throw new DriverException.IncompatibleExisting(target + " exists");
            }
            Entry entry = tree.group(target).subvolumes.computeIfAbsent(target.subvolume(), _ -> new Entry());
            entry.clone = Optional.of(new CloneState(from, source.name(), tree.clonesTake));
            entry.data =
                    Optional.of(snapshot.data().copy(java.util.UUID.randomUUID().toString()));
        }
    }

    @Override
    public Optional<CloneProgress> cloneProgress(VolumeId.Provisioned target) {
        synchronized (tree) {
            return tree.find(target).flatMap(entry -> entry.clone).map(clone -> {
                if (clone.stage == Stage.RUNNING && --clone.looksLeft < 0) {
                    clone.stage = Stage.COMPLETE;
                }
                return new CloneProgress(clone.stage, clone.stage == Stage.COMPLETE ? "100%" : "7%");
            });
        }
    }

    @Override
    public void cancelClone(VolumeId.Provisioned target) {
        synchronized (tree) {
            tree.find(target)
                    .flatMap(entry -> entry.clone)
                    .filter(clone -> clone.stage == Stage.RUNNING)
                    .ifPresent(clone -> clone.stage = Stage.CANCELLED);
        }
    }

    @Override
    public long availableBytes(String cluster, String fileSystem, Optional<String> dataPool) {
        InMemoryTree.known(cluster);
        if (dataPool.filter(pool -> !InMemoryTree.POOLS.contains(pool)).isPresent()) {
            throw new DriverException.InvalidRequest("parameter dataPool " + dataPool.get() + " does not exist");
        }
        return POOL_BYTES;
    }
}

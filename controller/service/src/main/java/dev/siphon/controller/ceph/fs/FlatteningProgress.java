package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/// Keeps the progress of up to [#MOST] trees that are being flattened. At the limit, a new tree replaces the
/// latest one of the account with the most trees, if that has at least two more than the new tree's account.
/// Otherwise it is not kept: if each new tree replaced another, no tree that needs several tries would ever
/// finish.
final class FlatteningProgress {
    static final int MOST = 100;

    /// Age at which an unused tree is dropped at the limit. Callers that remove a volume retry within 5 minutes.
    static final Duration KEPT = Duration.ofMinutes(15);

    private final LongSupplier nanoTime;

    /// Oldest first.
    private final Map<Key, Kept> trees = new LinkedHashMap<>();

    private record Key(VolumeId.Provisioned volume, String path) {}

    /// @param usedAt when a caller last continued it
    private record Kept(TreeFlattener tree, long usedAt) {}

    /// @param nanoTime a clock like [System#nanoTime]
    FlatteningProgress(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /// Returns the tree at a path of a volume: the kept one, or a new one, which is kept if there is room.
    synchronized TreeFlattener of(VolumeId.Provisioned volume, String path) {
        long now = nanoTime.getAsLong();
        Key key = new Key(volume, path);
        Optional<Kept> kept = Optional.ofNullable(trees.get(key));
        TreeFlattener tree = kept.map(Kept::tree).orElseGet(() -> new TreeFlattener(path));
        if (kept.isPresent() || makeRoom(SubvolumeGroup.of(volume), now)) {
            trees.put(key, new Kept(tree, now));
        }
        return tree;
    }

    /// Removes a finished tree.
    synchronized void remove(VolumeId.Provisioned volume, TreeFlattener tree) {
        Key key = new Key(volume, tree.path());
        if (Optional.ofNullable(trees.get(key))
                .filter(kept -> kept.tree() == tree)
                .isPresent()) {
            trees.remove(key);
        }
    }

    private boolean makeRoom(SubvolumeGroup owner, long now) {
        if (trees.size() == MOST) {
            trees.values().removeIf(kept -> now - kept.usedAt() > KEPT.toNanos());
        }
        if (trees.size() < MOST) {
            return true;
        }
        Map<SubvolumeGroup, List<Key>> ofOwners =
                trees.keySet().stream().collect(Collectors.groupingBy(key -> SubvolumeGroup.of(key.volume())));
        int own = ofOwners.getOrDefault(owner, List.of()).size();
        Optional<Key> out = ofOwners.values().stream()
                .max(Comparator.comparingInt(List::size))
                .filter(keys -> keys.size() > own + 1)
                .map(List::getLast);
        out.ifPresent(trees::remove);
        return out.isPresent();
    }
}

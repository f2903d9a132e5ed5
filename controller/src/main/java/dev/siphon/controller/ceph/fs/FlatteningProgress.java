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

/// What was done of trees that are being taken apart, of so many of them. Beyond that an account with many gives
/// way to one with few, and its later ones wait for its earlier ones: if each new tree took the place of another,
/// none that takes more than one try would ever be done.
final class FlatteningProgress {
    static final int MOST = 100;

    /// How long one is kept that nobody goes on with. Whoever wants a volume removed comes again within 5 minutes.
    static final Duration KEPT = Duration.ofMinutes(15);

    private final LongSupplier nanoTime;

    /// The eldest first.
    private final Map<Key, Kept> trees = new LinkedHashMap<>();

    private record Key(VolumeId.Provisioned volume, String path) {}

    /// @param usedAt when somebody went on with it
    private record Kept(TreeFlattener tree, long usedAt) {}

    /// @param nanoTime a clock as [System#nanoTime]
    FlatteningProgress(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /// The tree at a path of a volume: as far as it is done, or a new one, which is kept if there is room.
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

    /// Forgets a tree that is done.
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

package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.node.mount.MountedDatasets.Nearby;
import dev.siphon.node.replica.cache.CachedReplica;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// Chooses the tree of an attached dataset for a pod. By default, pods share the common tree, with its replica
/// where the first pod wants it. Pods with devices elsewhere get a tree dedicated to their own cache directory.
final class TreeChoice {
    private final ImageMounts imageMounts;
    private final CacheDirectories cacheDirectories;
    private final BackingFileSwitcher switcher;
    private final ReplicaEvictor evictor;
    private final ReplicaSettings settings;

    TreeChoice(
            ImageMounts imageMounts,
            CacheDirectories cacheDirectories,
            BackingFileSwitcher switcher,
            ReplicaEvictor evictor,
            ReplicaSettings settings) {
        this.imageMounts = imageMounts;
        this.cacheDirectories = cacheDirectories;
        this.switcher = switcher;
        this.evictor = evictor;
        this.settings = settings;
    }

    /// Returns whether there are several cache directories to choose from.
    boolean isPossible() {
        return settings.caches().size() > 1;
    }

    /// Returns the common tree, if it is attached and its erofsfuse process, if any, is alive.
    Optional<ImageMount> readable(DatasetState state) {
        return state.known().tree(state.key()).filter(common -> imageMounts.isAlive(common.key()));
    }

    /// Chooses the tree, and mounts it if necessary; the caller holds the dataset's lock.
    ///
    /// @param common the common tree
    /// @param nearest the cache directories nearest to the pod's devices, at least one
    Nearby choose(DatasetState state, ImageMount common, List<Path> nearest) {
        List<Path> there = cacheDirectories.of(state.digest()).stream()
                .map(CachedReplica::cache)
                .toList();
        List<Path> homes = homes(state, common, there);
        if (homes.stream().anyMatch(nearest::contains)) {
            return common(state, common, homes);
        }
        if (homes.isEmpty() && there.isEmpty()) {
            return common(state, common, forFirstReplica(state, nearest));
        }
        return preferredCache(state, nearest, there)
                .map(cache -> new Nearby(tree(state, cache), List.of(cache)))
                .orElseGet(() -> common(state, common, homes.isEmpty() ? there : homes));
    }

    /// Decides whether to move the common tree's replica to one of `nearest`; the caller holds the dataset's lock.
    ///
    /// @return the new directory; empty if the replica stays
    Optional<Path> move(DatasetState state, ImageMount common, List<Path> nearest) {
        List<Path> there = cacheDirectories.of(state.digest()).stream()
                .map(CachedReplica::cache)
                .toList();
        List<Path> going = state.wanted().preferred().isEmpty()
                ? homes(state, common, there)
                : state.wanted().preferred();
        if (going.isEmpty() || going.stream().anyMatch(nearest::contains)) {
            return Optional.empty();
        }
        Optional<Path> home = preferredCache(state, nearest, there);
        home.ifPresent(state::move);
        return home;
    }

    /// Chooses where the first replica goes, so that the pod is told the right directory.
    ///
    /// @return empty if no directory takes it
    private List<Path> forFirstReplica(DatasetState state, List<Path> nearest) {
        if (state.known().image().isEmpty()) {
            return nearest;
        }
        long bytes = state.known().image().get().readOutline().imageBytes();
        try {
            return List.of(cacheDirectories
                    .place(state.digest(), bytes, settings.placement(), nearest, evictor)
                    .path());
        } catch (DriverException.QuotaExhausted _) {
            return List.of(); // the fill fails with this, and the dataset's status shows it
        }
    }

    private static Nearby common(DatasetState state, ImageMount common, List<Path> homes) {
        state.want(wanted -> wanted.nearest(homes));
        return new Nearby(common.tree(), homes);
    }

    /// Returns where the common tree is or will be read from; empty if that is undecided.
    private static List<Path> homes(DatasetState state, ImageMount common, List<Path> there) {
        List<Path> settled = common.place()
                .cache()
                .map(List::of)
                .orElseGet(() -> state.wanted().preferred());
        return settled.isEmpty() && there.size() == 1 ? there : settled;
    }

    /// Returns the directory of `nearest` that justifies a dedicated tree: it has a replica or a tree, or it has
    /// room.
    private Optional<Path> preferredCache(DatasetState state, List<Path> nearest, List<Path> there) {
        Optional<Path> present = nearest.stream()
                .filter(cache -> there.contains(cache)
                        || state.known()
                                .tree(ImageMountKey.at(state.digest(), cache))
                                .isPresent())
                .findFirst();
        if (present.isPresent() || !settings.near().fillsSecond()) {
            return present;
        }
        return state.known()
                .image()
                .flatMap(image -> cacheDirectories.room(
                        state.digest(), image.readOutline().imageBytes(), settings.placement(), nearest));
    }

    private Path tree(DatasetState state, Path cache) {
        ImageMountKey key = ImageMountKey.at(state.digest(), cache);
        Optional<ImageMount> known = state.known().tree(key).filter(_ -> imageMounts.isAlive(key));
        if (known.isPresent()) {
            return known.get().tree();
        }
        DatasetImage image = state.known().image().orElseThrow();
        ImageMount fresh = switcher.seen(state, key, imageMounts.attach(key, image, image.readOutline()));
        state.want(wanted -> wanted.nearest(List.of()));
        state.attached(fresh);
        state.requestAt(cache);
        return fresh.tree();
    }
}

package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.node.replica.cache.CachedReplica;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Switches the backing file of a dataset's tree, and records where the tree is then read from, as the kernel
/// reports it.
final class BackingFileSwitcher {
    private static final Logger LOG = LoggerFactory.getLogger(BackingFileSwitcher.class);

    private final ImageMounts imageMounts;
    private final CacheDirectories cacheDirectories;
    private final DatasetLocks locks;
    private final ReplicaCounts counts;

    BackingFileSwitcher(
            ImageMounts imageMounts, CacheDirectories cacheDirectories, DatasetLocks locks, ReplicaCounts counts) {
        this.imageMounts = imageMounts;
        this.cacheDirectories = cacheDirectories;
        this.locks = locks;
        this.counts = counts;
    }

    /// Determines where an image mount is read from. For a fresh one, no disk is checked.
    ImageMount seen(DatasetState state, ImageMountKey key, MountResult mountResult) {
        if (mountResult.fresh()) {
            return attachment(key, mountResult, new ReadLocation.Remote());
        }
        ReadLocation place = cacheDirectories
                .holding(key.digest(), mountResult.device().backing())
                .<ReadLocation>map(replica -> new ReadLocation.Local(replica.cache()))
                .orElseGet(() -> placeUnseen(state, key));
        return attachment(key, mountResult, place);
    }

    /// Determines the location when no readable disk holds the backing file. After a restart, the file may be on an
    /// unreadable disk. Assuming that, the reconciler switches the tree to CephFS, which is harmless if the tree
    /// already reads from there.
    private ReadLocation placeUnseen(DatasetState state, ImageMountKey key) {
        List<Path> unreadable = cacheDirectories.unreadable();
        Optional<ReadLocation> before = state.known().tree(key).map(ImageMount::place);
        return before.isPresent()
                ? before.filter(place ->
                                place.cache().filter(unreadable::contains).isPresent())
                        .orElseGet(ReadLocation.Remote::new)
                : unreadable.stream()
                        .findFirst()
                        .<ReadLocation>map(ReadLocation.Local::new)
                        .orElseGet(ReadLocation.Remote::new);
    }

    private ImageMount attachment(ImageMountKey key, MountResult mountResult, ReadLocation place) {
        counts.reads().follow(key, mountResult.device().device(), place);
        return new ImageMount(
                key, mountResult.tree(), place, mountResult.device().directIo());
    }

    /// Switches a tree to a replica, which must be whole and verified. Does nothing if the tree was detached
    /// meanwhile.
    void to(DatasetState state, ImageMountKey key, CachedReplica replica) {
        swap(state, key, replica.image(), new ReadLocation.Local(replica.cache()), Optional.empty());
    }

    /// Switches every tree that reads the replica in `cache` back to the image on CephFS. A tree that was detached
    /// meanwhile counts as success.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the image's path is unknown
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if CephFS or a failing disk does not respond
    void back(DatasetState state, Path cache) {
        List<ImageMountKey> served = state.known().servedFrom(cache);
        if (served.isEmpty()) {
            return;
        }
        DatasetImage image = state.known()
                .image()
                .orElseThrow(() -> new DriverException.InUse("dataset " + state.digest()
                        + " is read from its replica, and the node does not know where its image is: attach it again"));
        Path replica = cacheDirectories.at(cache).replica(state.digest()).image();
        served.forEach(key -> swap(state, key, image.image(), new ReadLocation.Remote(), Optional.of(replica)));
    }

    /// Records that a tree was unmounted.
    void gone(DatasetState state, ImageMountKey key) {
        counts.reads().unfollow(key);
        state.unattached(key);
    }

    private void swap(DatasetState state, ImageMountKey key, Path file, ReadLocation place, Optional<Path> instead) {
        locks.take(state.digest(), () -> {
                    Optional<ImageMount> now = imageMounts.find(key).isEmpty()
                            ? Optional.empty()
                            : Optional.of(attachment(key, imageMounts.swap(key, file, instead), place));
                    now.ifPresentOrElse(state::attached, () -> gone(state, key));
                    return now;
                })
                .ifPresent(now -> {
                    switch (place) {
                        case ReadLocation.Local _ -> counts.swapsToReplica().increment();
                        case ReadLocation.Remote _ -> counts.swapsToImage().increment();
                    }
                    LOG.atInfo()
                            .addKeyValue("dataset", state.digest())
                            .addKeyValue("file", file)
                            .addKeyValue("direct_io", now.directIo())
                            .log("switched what a dataset is read from");
                });
    }
}

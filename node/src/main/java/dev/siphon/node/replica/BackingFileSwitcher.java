package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.node.replica.cache.CachedReplica;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Changes what is behind a dataset's tree, and notes what the kernel says is there then.
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

    /// Looks where an attachment is read from. One just made asks no cache's disk.
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

    /// Where an attachment is read from that reads no replica on a disk that answers. After a restart that may be
    /// one on a disk that does not, which is to be left: to swap a tree from CephFS to CephFS harms nobody.
    private ReadLocation placeUnseen(DatasetState state, ImageMountKey key) {
        List<Path> unreadable = cacheDirectories.unreadable();
        Optional<ReadLocation> before = state.attachment(key).map(ImageMount::place);
        return before.isPresent()
                ? before.filter(place ->
                                place.cache().filter(unreadable::contains).isPresent())
                        .orElseGet(ReadLocation.Remote::new)
                : unreadable.stream()
                        .findFirst()
                        .<ReadLocation>map(ReadLocation.Local::new)
                        .orElseGet(ReadLocation.Remote::new);
    }

    private static ImageMount attachment(ImageMountKey key, MountResult mountResult, ReadLocation place) {
        return new ImageMount(
                key, mountResult.tree(), place, mountResult.device().directIo());
    }

    /// Puts a replica, which is whole and was checked, behind a tree; not if it was detached meanwhile.
    void to(DatasetState state, ImageMountKey key, CachedReplica replica) {
        swap(state, key, replica.image(), new ReadLocation.Local(replica.cache()), Optional.empty());
    }

    /// Puts the image on CephFS behind every tree that is read from the replica in `cache`; that one was detached
    /// meanwhile is as good.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if nobody knows where that image is
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if CephFS, or a disk that fails, does not
    ///     answer
    void back(DatasetState state, Path cache) {
        List<ImageMountKey> served = state.servedFrom(cache);
        if (served.isEmpty()) {
            return;
        }
        DatasetImage image = state.image()
                .orElseThrow(
                        () -> new DriverException.InUse(
                                "dataset " + state.digest()
                                        + " is read from its replica, and there is no telling where its image is: attach it once more"));
        Path replica = cacheDirectories.at(cache).replica(state.digest()).image();
        served.forEach(key -> swap(state, key, image.image(), new ReadLocation.Remote(), Optional.of(replica)));
    }

    private void swap(DatasetState state, ImageMountKey key, Path file, ReadLocation place, Optional<Path> instead) {
        locks.take(state.digest(), () -> {
                    Optional<ImageMount> now = imageMounts.find(key).isEmpty()
                            ? Optional.empty()
                            : Optional.of(attachment(key, imageMounts.swap(key, file, instead), place));
                    now.ifPresentOrElse(state::attached, () -> state.unattached(key));
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
                            .log("swapped what a dataset is read from");
                });
    }
}

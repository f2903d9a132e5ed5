package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.ManifestOutline;
import dev.siphon.node.replica.cache.CacheDirectory;
import dev.siphon.node.replica.cache.CachedReplica;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Mounts a dataset's common tree, and finds the trees of an earlier run. The caller holds the dataset's lock.
final class TreeAttacher {
    private final ImageMountDirectories folders;
    private final ImageMounts imageMounts;
    private final CacheDirectories cacheDirectories;
    private final BackingFileSwitcher switcher;
    private final TreeChoice choice;
    private final ReplicaSettings settings;

    TreeAttacher(
            ImageMountDirectories folders,
            ImageMounts imageMounts,
            CacheDirectories cacheDirectories,
            BackingFileSwitcher switcher,
            TreeChoice choice,
            ReplicaSettings settings) {
        this.folders = folders;
        this.imageMounts = imageMounts;
        this.cacheDirectories = cacheDirectories;
        this.switcher = switcher;
        this.choice = choice;
        this.settings = settings;
    }

    /// Asks the kernel for the dataset's trees, once in this run of the driver.
    void find(DatasetState state) {
        if (state.known().kernelAsked()) {
            return;
        }
        List<ImageMountKey> keys = folders.of(state.digest());
        for (ImageMountKey key : keys) {
            folders.image(key).ifPresent(state::found);
            imageMounts.find(key).ifPresent(now -> {
                ImageMount lived = switcher.seen(state, key, now);
                state.attached(lived);
                DiskWatch.lookBack(
                        lived,
                        now.device().number(),
                        cacheDirectories,
                        settings.pace().diskRetry());
                state.request(false); // the run that attached it may have been killed before its fill
                cacheDirectories.preferredCache(key).ifPresent(state::requestAt);
            });
        }
        // left by a run killed before its mount or after its unmount
        keys.stream()
                .filter(key -> state.known().tree(key).isEmpty())
                .filter(key -> !key.equals(state.key()) || !state.wanted().isAny())
                .forEach(folders::remove);
        state.know(DatasetFacts::withKernelAsked);
    }

    /// Mounts the tree over the image, unless it is mounted.
    ImageMount attach(DatasetState state, DatasetImage image) {
        find(state);
        ImageMount now = mounted(state).orElseGet(() -> attachNew(state, image));
        folders.make(state.key(), image);
        state.found(image);
        if (state.known().tree(state.key()).isEmpty() && choice.isPossible()) {
            state.want(wanted ->
                    wanted.unsettled(Instant.now().plus(settings.near().patience())));
        }
        state.attached(now);
        return now;
    }

    private Optional<ImageMount> mounted(DatasetState state) {
        return imageMounts.find(state.key()).map(mountResult -> switcher.seen(state, state.key(), mountResult));
    }

    private ImageMount attachNew(DatasetState state, DatasetImage image) {
        ManifestOutline manifest = image.readOutline();
        return switcher.seen(state, state.key(), imageMounts.attach(state.key(), image, manifest));
    }

    /// Mounts the tree over a verified replica, unless it reads one. Touches nothing on CephFS.
    ///
    /// @param image where the image will be once it can be reached again
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if no replica is verified, or the tree reads the
    ///     image
    ImageMount attachReplica(DatasetState state, DatasetImage image) {
        find(state);
        ImageMount now = mounted(state).orElseGet(() -> attachVerified(state, image));
        state.attached(now);
        checkReadable(state, now);
        folders.make(state.key(), image);
        state.found(image);
        return now;
    }

    /// A tree that pods read since before a restart is verified meanwhile; what is known to be bad is refused.
    private void checkReadable(DatasetState state, ImageMount tree) {
        String refused = switch (tree.place()) {
            case ReadLocation.Remote _ -> "is read from CephFS on this node, not from a replica";
            case ReadLocation.Local(Path cache) -> {
                CacheDirectory directory = cacheDirectories.at(cache);
                boolean corrupt = state.known().check(cache) instanceof ReplicaCheck.Corrupt(long before)
                        && before == directory.failures();
                yield corrupt || !directory.isReadable() ? "has a bad replica, or its disk fails" : "";
            }
        };
        if (!refused.isEmpty()) {
            throw new DriverException.BackendUnavailable("dataset " + state.digest() + " " + refused);
        }
    }

    private ImageMount attachVerified(DatasetState state, DatasetImage image) {
        CachedReplica verified = cacheDirectories.whole(state.digest()).stream()
                .filter(replica -> isVerified(state, replica))
                .findFirst()
                .orElseThrow(() -> new DriverException.BackendUnavailable(
                        "this node has no verified replica of dataset " + state.digest()));
        ManifestOutline manifest =
                new DatasetImage(state.digest(), verified.image(), verified.manifestFile()).readOutline();
        return switcher.seen(state, state.key(), imageMounts.attach(state.key(), image, verified.image(), manifest));
    }

    private boolean isVerified(DatasetState state, CachedReplica replica) {
        CacheDirectory directory = cacheDirectories.at(replica.cache());
        return state.known()
                .check(replica.cache())
                .verifiedUntil(directory.failures(), settings.pace().scrubPeriod())
                .isAfter(Instant.now());
    }
}

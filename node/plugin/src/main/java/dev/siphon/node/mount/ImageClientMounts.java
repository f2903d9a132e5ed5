package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountSyscalls;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.SystemErrors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Stream;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Mounts CephFS for the images of datasets: one client mount for each dataset, in a directory of the driver's own.
/// It exists before the dataset's tree is mounted, and until the last volume that shows it is gone. The node
/// returns to the image whenever a replica fails, so the mount outlives the fill.
final class ImageClientMounts {
    private static final Logger LOG = LoggerFactory.getLogger(ImageClientMounts.class);
    private static final String IMAGE = Dataset.IMAGE;
    private static final String MANIFEST = Dataset.MANIFEST;

    private final Path directory;
    private final VolumeMounts mounts;
    private final MountedDatasets datasets;
    private final ClientRoots roots;
    private final OpenedDatasets opened;
    private final ImageOpener opener;
    private final SharedValues<String, ReentrantLock> locks = new SharedValues<>(_ -> new ReentrantLock(), _ -> false);

    /// Datasets whose sweep found the lock taken: the holder of the lock sweeps them when it is done.
    private final Set<String> left = ConcurrentHashMap.newKeySet();

    /// The beginnings of the digests of images that stay mounted without a volume, each with its holder.
    private final Set<Holding> held = ConcurrentHashMap.newKeySet();

    private record Holding(String digest, Object holder) {}

    /// @param directory used by this object alone
    /// @param calls runs the calls that may hang with CephFS
    ImageClientMounts(
            Path directory,
            VolumeMounts mounts,
            MountedDatasets datasets,
            ClientRoots roots,
            OpenedDatasets opened,
            BlockingCalls calls) {
        this.directory = directory;
        this.mounts = mounts;
        this.datasets = datasets;
        this.roots = roots;
        this.opened = opened;
        this.opener = new ImageOpener(mounts, roots, opened, calls);
    }

    /// A dataset whose mounts nobody else changes until it is closed.
    final class Locked implements AutoCloseable {
        private final String digest;
        private final Duration limit;
        private final SharedValues<String, ReentrantLock>.Used lock;

        private Locked(VolumeId.DatasetVolume volume, Duration limit) {
            this.digest = volume.digest();
            this.limit = limit;
            this.lock = locks.use(digest);
            if (!taken(lock.value(), limit)) {
                lock.close();
                throw new DriverException.OperationPending(
                        "dataset " + volume + " is being attached by another volume");
            }
        }

        /// Ends the lock, and does what others have left for its holder.
        @Override
        public void close() {
            lock.value().unlock();
            lock.close();
            if (left.contains(digest)) {
                sweepIfPossible(digest, limit);
            }
        }
    }

    /// Locks a dataset.
    ///
    /// @param limit how long to wait for another holder, and for clients to end when the lock does
    /// @throws DriverException.OperationPending (ABORTED) if another volume of the dataset keeps the lock beyond
    ///     `limit`
    Locked lock(VolumeId.DatasetVolume volume, Duration limit) {
        return new Locked(volume, limit);
    }

    /// Mounts the image and the tree of `volume` if they are not mounted, and binds the tree to `target`.
    ///
    /// @param caches decides which tree
    /// @param limit the time for the client to come up, and for the dataset's lock
    /// @return the cache directories of which one holds or will hold the replica that the pod reads; empty if that
    ///     does not matter
    /// @throws DriverException.OperationPending (ABORTED) as [#lock]
    List<Path> show(
            VolumeId.DatasetVolume volume,
            Mounter mounter,
            ClientMount client,
            DirectoryHandle target,
            CachePreference caches,
            Duration limit) {
        return bind(volume, client.options(), target, caches, limit, source -> {
            Digest digest = opener.open(volume, source, mounter, client, limit);
            return new Attached(digest, datasets.attach(digest, source.resolve(IMAGE), source.resolve(MANIFEST)));
        });
    }

    /// Returns whether these credentials have opened the dataset last, and lately.
    boolean isOpened(VolumeId.DatasetVolume volume, CephCredentials credentials) {
        return opened.lately(volume, credentials).isPresent();
    }

    /// Binds a tree of `volume` that reads a replica to `target`. The caller knows that its pod may read the dataset.
    ///
    /// @param caches decides which tree
    /// @param limit the time for the dataset's lock
    /// @param away why the image cannot be mounted
    /// @return as [#show]
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if no key has opened the dataset lately, or as
    ///     [MountedDatasets#attachReplica]
    List<Path> showReplica(
            VolumeId.DatasetVolume volume,
            ClientOptions options,
            DirectoryHandle target,
            CachePreference caches,
            Duration limit,
            DriverException away) {
        Digest digest = opened.lately(volume, away);
        return bind(volume, options, target, caches, limit, source -> attachReplica(volume, digest, source, away));
    }

    private record Attached(Digest digest, Path common) {}

    private Attached attachReplica(VolumeId.DatasetVolume volume, Digest digest, Path source, DriverException away) {
        try {
            Path common = datasets.attachReplica(digest, source.resolve(IMAGE), source.resolve(MANIFEST));
            LOG.atWarn()
                    .addKeyValue("volume_id", volume)
                    .addKeyValue("reason", away.getMessage())
                    .log("the image of a dataset cannot be mounted: a replica is shown");
            return new Attached(digest, common);
        } catch (DriverException.BackendUnavailable none) {
            throw new DriverException.BackendUnavailable(away.getMessage() + "; " + none.getMessage(), none);
        }
    }

    private List<Path> bind(
            VolumeId.DatasetVolume volume,
            ClientOptions options,
            DirectoryHandle target,
            CachePreference caches,
            Duration limit,
            Function<Path, Attached> attaching) {
        try (Locked _ = lock(volume, limit)) {
            Path source = directory.resolve(volume.digest());
            try {
                Attached attached = attaching.apply(source);
                MountedDatasets.Nearby shown = choose(attached.digest(), caches, attached.common());
                try (DirectoryHandle root = DirectoryHandle.open(shown.tree().toString())) {
                    mounts.bind(root, target, options.flags());
                }
                return shown.replicaDirectories();
            } catch (ErrnoException e) {
                end(source, limit);
                throw SystemErrors.translate("attaching dataset " + volume, e);
            } catch (RuntimeException e) {
                end(source, limit);
                throw e;
            }
        }
    }

    /// Mounts the image of a dataset whose tree was mounted by [#showReplica]. Does nothing if no tree is mounted.
    ///
    /// @param limit as for [#show]
    void reopen(VolumeId.DatasetVolume volume, Mounter mounter, ClientMount client, Duration limit) {
        try (Locked _ = lock(volume, limit)) {
            if (datasets.attached().stream()
                    .noneMatch(tree -> tree.digest().beginning().equals(volume.digest()))) {
                return;
            }
            Path source = directory.resolve(volume.digest());
            Digest digest = opener.open(volume, source, mounter, client, limit);
            // a step that failed for want of the image is taken again
            var _ = datasets.attach(digest, source.resolve(IMAGE), source.resolve(MANIFEST));
        }
    }

    /// Mounts the image of `volume` if it is not mounted, and starts to make a replica of it. The image stays
    /// mounted while a holder has not called [#unpin] or a volume shows it.
    ///
    /// @param holder who needs it
    /// @param limit as for [#show]
    Digest hold(VolumeId.DatasetVolume volume, Object holder, Mounter mounter, ClientMount client, Duration limit) {
        try (Locked _ = lock(volume, limit)) {
            Path source = directory.resolve(volume.digest());
            Holding holding = new Holding(volume.digest(), holder);
            boolean isNew = held.add(holding);
            try {
                Digest digest = opener.open(volume, source, mounter, client, limit);
                datasets.warm(digest, source.resolve(IMAGE), source.resolve(MANIFEST));
                return digest;
            } catch (RuntimeException e) {
                if (isNew) {
                    held.remove(holding);
                }
                end(source, limit);
                throw e;
            }
        }
    }

    /// Undoes [#hold]. Succeeds if nothing is held.
    void unpin(VolumeId.DatasetVolume volume, Object holder, Duration limit) {
        if (held.remove(new Holding(volume.digest(), holder))) {
            sweep(volume, limit);
        }
    }

    /// Chooses the tree of a staged dataset that is best for a pod. The caller holds the dataset's lock until that is
    /// bound: otherwise a sweep could unmount it.
    ///
    /// @param staged where it is staged; the fallback for every pod
    MountedDatasets.Nearby choose(VolumeId.DatasetVolume volume, CachePreference caches, Path staged) {
        return datasets.attached().stream()
                .map(MountedDatasets.Tree::digest)
                .filter(each -> each.beginning().equals(volume.digest()))
                .findFirst()
                .map(digest -> choose(digest, caches, staged))
                .orElseGet(() -> new MountedDatasets.Nearby(staged, List.of()));
    }

    /// Returns the best tree for the pod, or `otherwise` if it is unavailable.
    private MountedDatasets.Nearby choose(Digest digest, CachePreference caches, Path otherwise) {
        return switch (caches) {
            case CachePreference.PodUnknown _ -> new MountedDatasets.Nearby(otherwise, List.of());
            case CachePreference.AnyDirectory _, CachePreference.NearDevices _ ->
                chooseTree(digest, caches.nearest()).orElseGet(() -> new MountedDatasets.Nearby(otherwise, List.of()));
        };
    }

    private Optional<MountedDatasets.Nearby> chooseTree(Digest digest, List<Path> nearest) {
        try {
            return datasets.chooseTree(digest, nearest);
        } catch (DriverException notNow) {
            LOG.atWarn()
                    .addKeyValue("dataset", digest)
                    .addKeyValue("reason", notNow.getMessage())
                    .log("a pod's dataset is published from where it is");
            return Optional.empty();
        }
    }

    /// Unmounts what no volume shows any more, including leftovers of a killed process. Skips datasets that are
    /// being attached.
    ///
    /// @param limit the time for each client to end
    void sweep(Duration limit) {
        Stream.concat(
                        datasets.attached().stream().map(tree -> tree.digest().beginning()),
                        sources().stream().map(source -> String.valueOf(source.getFileName())))
                .distinct()
                .forEach(digest -> sweepIfPossible(digest, limit));
    }

    /// Same as [#sweep(Duration)], for one dataset.
    ///
    /// @throws DriverException if it cannot be unmounted now; each later sweep retries
    void sweep(VolumeId.DatasetVolume volume, Duration limit) {
        sweep(volume.digest(), limit);
    }

    /// Sweeps one dataset. A failure is logged and does not block the others.
    private void sweepIfPossible(String digest, Duration limit) {
        try {
            sweep(digest, limit);
        } catch (DriverException notNow) {
            LOG.atWarn()
                    .addKeyValue("dataset", digest)
                    .addKeyValue("reason", notNow.getMessage())
                    .log("cannot detach an unused dataset now; will retry");
        }
    }

    private void sweep(String digest, Duration limit) {
        left.add(digest);
        locks.with(digest, lock -> {
            while (left.contains(digest) && lock.tryLock()) {
                try {
                    left.remove(digest);
                    datasets.attached().stream()
                            .filter(tree -> tree.digest().beginning().equals(digest))
                            .forEach(this::detach);
                    end(directory.resolve(digest), limit);
                } finally {
                    lock.unlock();
                }
            }
        });
    }

    private void detach(MountedDatasets.Tree tree) {
        if (!roots.isShown(MountTable.read(), tree.mount().device())) {
            datasets.detach(tree);
        }
    }

    private List<Path> sources() {
        List<Path> paths = new ArrayList<>();
        try {
            Files.createDirectories(directory);
            try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
                found.forEach(paths::add);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the state directory", e);
        }
        return paths;
    }

    /// Unmounts an image unless its tree is mounted or a holder needs it.
    private void end(Path source, Duration limit) {
        String digest = String.valueOf(source.getFileName());
        if (held.stream().anyMatch(each -> each.digest().equals(digest))
                || datasets.attached().stream()
                        .anyMatch(tree -> tree.digest().beginning().equals(digest))) {
            return;
        }
        Optional<MountEntry> mounted = MountTable.read().at(source.toString());
        try {
            if (mounted.isPresent()) {
                // a fill may still read it: the client ends when the fill closes its files
                MountSyscalls.unmount(source.toString(), MountSyscalls.Unmount.DETACH);
            }
            opener.forget(digest);
            Files.deleteIfExists(source);
        } catch (ErrnoException e) {
            if (!e.is(Errno.EINVAL, Errno.ENOENT)) {
                throw SystemErrors.translate("unmounting the image of dataset " + digest, e);
            }
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("path", source).setCause(e).log("cannot remove the mount point of an image");
        }
        mounted.flatMap(mounts::kindOf).ifPresent(kind -> kind.awaitEnd(mounted.get(), limit));
    }

    private static boolean taken(ReentrantLock lock, Duration limit) {
        try {
            return lock.tryLock(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}

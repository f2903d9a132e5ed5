package dev.siphon.node.replica;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.ManifestOutline;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.MountedDatasets.Nearby;
import dev.siphon.node.mount.SharedValues;
import dev.siphon.node.replica.cache.CacheDirectory;
import dev.siphon.node.replica.cache.CachedReplica;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The datasets of this node: attached at once over their images on CephFS, filled to its disks in the
/// background, swapped under their readers, and evicted when room is wanted.
///
/// Calls for one dataset wait for each other. Every call may be repeated, has a deadline, and throws a
/// [DriverException]: DEADLINE_EXCEEDED if a file system hangs, ABORTED if an earlier call for the dataset has not
/// ended, UNAVAILABLE if too many calls hang. Closing leaves all mounts; the next [Replicas] finds them.
public final class Replicas implements AutoCloseable {
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

    private final ReplicaSettings settings;
    private final BlockingCalls calls = new BlockingCalls();
    private final ImageMountDirectories folders;
    private final ImageMounts imageMounts;
    private final DatasetLocks locks;
    private final CacheDirectories cacheDirectories;
    private final BackingFileSwitcher switcher;
    private final ReplicaEvictor evictor;
    private final DatasetThreads threads;
    private final ReplicaReconciler reconciler;
    private final TreeChoice choice;
    private final ImageReachability reach;
    private final Consumer<String> warn;
    private List<DiskWatch> disks = List.of();
    private final ReplicaCounts counts = new ReplicaCounts();
    private final SharedValues<Digest, DatasetState> states;
    private final ReplicaListing listing;

    private Replicas(ReplicaSettings settings, BackgroundTasks tasks, Consumer<String> warn) {
        this.warn = warn;
        ReplicaPolicy policy = settings.pace();
        this.settings = settings;
        this.states = new SharedValues<>(digest -> new DatasetState(digest, policy), DatasetState::isRemembered);
        this.folders = new ImageMountDirectories(settings.state());
        this.imageMounts = new ImageMounts(folders, settings.erofs());
        this.locks = new DatasetLocks(calls, policy.callLimit());
        this.cacheDirectories = new CacheDirectories(settings.caches(), this::abandonCache, calls, policy);
        this.switcher = new BackingFileSwitcher(imageMounts, cacheDirectories, locks, counts);
        this.evictor = new ReplicaEvictor(switcher, imageMounts, calls, policy, counts, states);
        this.threads = new DatasetThreads(policy, states, this::step, tasks);
        this.reconciler =
                new ReplicaReconciler(cacheDirectories, switcher, evictor, calls, settings, threads::isClosed, counts);
        this.listing = new ReplicaListing(states, cacheDirectories);
        this.choice = new TreeChoice(imageMounts, cacheDirectories, switcher, settings);
        this.reach = new ImageReachability(settings, calls);
    }

    /// Finds what an earlier run left on the disks and in the kernel, and goes on with it: fills that were begun,
    /// and the check of every replica that is in use.
    ///
    /// @param warn is told why a cache directory is not read any more; must not wait
    public static Replicas start(ReplicaSettings settings, BackgroundTasks tasks, Consumer<String> warn) {
        Replicas replicas = new Replicas(settings, tasks, warn);
        replicas.recover();
        replicas.disks = DiskWatch.startAll(replicas.cacheDirectories, replicas::attached, tasks);
        return replicas;
    }

    private void recover() {
        cacheDirectories.prepare();
        List<CacheDirectories.FoundReplica> found = cacheDirectories.inventory();
        Stream.concat(folders.known().stream(), found.stream().map(CacheDirectories.FoundReplica::digest))
                .distinct()
                .forEach(digest -> {
                    if (found.stream().anyMatch(part -> part.digest().equals(digest) && !part.whole())) {
                        states.with(digest, state -> state.requestReplica(true));
                    }
                    threads.wake(digest);
                });
    }

    /// Has what is read from a disk that fails put back over CephFS, whatever its next step would have been.
    private void abandonCache(Path cache) {
        states.values()
                .filter(state -> state.servedFrom().contains(cache))
                .map(DatasetState::digest)
                .forEach(threads::wake);
        cacheDirectories.at(cache).trouble().map(CacheDirectory.Trouble::why).ifPresent(warn);
    }

    /// A dataset that nobody has looked at yet is looked for in the kernel first, on its own thread: its file
    /// system may hang, and that concerns it alone.
    private Optional<Duration> step(DatasetState state) {
        if (!state.isKernelAsked()) {
            refresh(state);
        }
        return reconciler.step(state);
    }

    private void refresh(DatasetState state) {
        locks.take(state.digest(), () -> {
            find(state);
            return state;
        });
    }

    private void find(DatasetState state) {
        if (state.isKernelAsked()) {
            return;
        }
        List<ImageMountKey> keys = folders.of(state.digest());
        for (ImageMountKey key : keys) {
            folders.image(key).ifPresent(state::image);
            imageMounts.find(key).ifPresent(now -> {
                ImageMount lived = switcher.seen(state, key, now);
                state.attached(lived);
                DiskWatch.lookBack(
                        lived,
                        now.device().number(),
                        cacheDirectories,
                        settings.pace().diskRetry());
                state.requestReplica(false); // the run that attached it may have been killed before its fill began
                cacheDirectories.preferredCache(key).ifPresent(state::requestReplicaIn);
            });
        }
        // left by a run that was killed before it mounted, or after it unmounted
        keys.stream()
                .filter(key -> state.attachment(key).isEmpty())
                .filter(key -> !key.equals(state.key()) || !state.isWanted())
                .forEach(folders::remove);
        state.markKernelAsked();
    }

    /// Has `body` use a dataset's state, and the dataset looked after when that has ended.
    private <T> T changing(Digest dataset, Function<DatasetState, T> body) {
        T result = states.use(dataset, body);
        threads.wake(dataset);
        return result;
    }

    /// Mounts a dataset's image at once and requests a replica. A replica that is on a disk already goes behind the
    /// tree once it is verified. A first fill waits for [#near], as long as [GpuProximity] says.
    ///
    /// @return what was there when this returned; its tree stays the same
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the image or its manifest cannot be read
    /// @throws DriverException.BackendFault (INTERNAL) if the two do not fit together or are another dataset's
    /// @throws DriverException.Unsupported (UNIMPLEMENTED) if the kernel has no loop devices, or neither EROFS nor
    ///     what erofsfuse needs
    public ImageMount attach(DatasetImage image) {
        return changing(image.digest(), state -> {
            ImageMount imageMount = locks.take(image.digest(), () -> attach(state, image));
            state.requestReplica(false);
            state.use();
            return imageMount;
        });
    }

    private ImageMount attach(DatasetState state, DatasetImage image) {
        find(state);
        ImageMount now = imageMounts
                .find(state.key())
                .map(mountResult -> switcher.seen(state, state.key(), mountResult))
                .orElseGet(() -> attachNew(state, image));
        folders.make(state.key(), image);
        state.image(image);
        if (state.attachment(state.key()).isEmpty() && choice.isPossible()) {
            state.unsettled(Instant.now().plus(settings.near().patience()));
        }
        state.attached(now);
        return now;
    }

    private ImageMount attachNew(DatasetState state, DatasetImage image) {
        ManifestOutline manifest = image.readOutline();
        return switcher.seen(state, state.key(), imageMounts.attach(state.key(), image, manifest));
    }

    /// Finds the tree of an attached dataset that a pod had best be shown, and has a replica made for it. The
    /// first that asks decides where the dataset's first replica is made; for one whose devices are elsewhere
    /// there is another tree, with a replica of its own where there is room for it, until when it is read from
    /// wherever the dataset is. Repeating it gives the same tree, as long as that is attached.
    ///
    /// @param nearest the cache directories that are nearest to the pod's devices; none if it does not matter
    /// @return what to bind; empty if it does not matter, or if the dataset is not attached
    public Optional<Nearby> near(Digest dataset, List<Path> nearest) {
        return changing(dataset, state -> {
            if (nearest.isEmpty() || !choice.isPossible()) {
                state.preferNearest(List.of());
                return Optional.empty(); // no disk is waited for
            }
            return locks.take(dataset, settings.near().limit(), () -> {
                find(state);
                return choice.readable(state).map(common -> choice.choose(state, common, nearest));
            });
        });
    }

    /// Has the replica behind an attached dataset's common tree moved to where its pods' devices are now: made in
    /// one of `nearest` if it is not there, and put behind the tree when it is whole. The one that was read stays
    /// until its room is wanted.
    ///
    /// @return the cache directory; empty if it is, or is going to be, in one of them, if there is no room for it
    ///     ([GpuProximity#fillsSecond]), or if the dataset has none and is to have none
    public Optional<Path> follow(Digest dataset, List<Path> nearest) {
        if (!choice.isPossible()) {
            return Optional.empty();
        }
        Optional<Path> home = states.use(
                dataset,
                state -> locks.take(dataset, settings.near().limit(), () -> {
                    find(state);
                    return choice.readable(state).flatMap(common -> choice.move(state, common, nearest));
                }));
        if (home.isPresent()) {
            threads.wake(dataset);
        }
        return home;
    }

    /// Takes a dataset's tree away, when its last user went. Its replica stays until its room is wanted. That it
    /// is not attached is success.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a volume still shows it, or a file in it is open
    public void detach(ImageMountKey key) {
        var _ = changing(key.digest(), state -> {
            locks.take(key.digest(), () -> {
                imageMounts.detach(key);
                state.unattached(key);
                return key;
            });
            state.use();
            return key;
        });
    }

    /// Has a replica made, or the one that is there checked, although nobody has the dataset attached.
    public void warm(DatasetImage image) {
        var _ = changing(image.digest(), state -> {
            locks.take(image.digest(), () -> {
                find(state);
                folders.make(state.key(), image); // so that a fill goes on after a restart
                return image;
            });
            state.image(image);
            state.requestReplica(true);
            return image;
        });
    }

    /// Has a replica of a dataset made, or the one that is there checked, and says how far it is, until it is
    /// whole. A failure ends this; the driver tries again by itself.
    ///
    /// @param limit how long to wait for that; the fill goes on afterwards
    /// @param progress is told at first, at each change, and at last that the replica is there
    /// @param gone whether nobody waits any more
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the node cannot reach the image, or has no cache
    ///     directory
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if it fits nowhere
    /// @throws DriverException.OperationPending (ABORTED) if it is evicted meanwhile
    /// @throws DriverException as [Fill#run]
    public void warm(Digest dataset, Duration limit, Consumer<ReplicaStatus> progress, BooleanSupplier gone) {
        long end = System.nanoTime() + limit.toNanos();
        states.with(dataset, state -> {
            refresh(state); // it may be known here since before a restart
            long before = state.failures();
            if (!state.isAttached() && !cacheDirectories.whole(dataset).isEmpty()) {
                state.requestReplica(true); // to be checked, for which no image is needed
                threads.wake(dataset);
            } else if (state.servedFrom().isEmpty()) {
                warm(reach.image(state));
            }
            new WarmupProgress(state, before, () -> listing.status(state)).follow(end, progress, gone);
        });
    }

    /// Removes a dataset's replicas, and stops one that is being made. What is attached stays so, over CephFS,
    /// and no replica is made until somebody attaches or warms it again. That there is none is success.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it is pinned, or the way back to CephFS is not
    ///     known
    public void evict(Digest dataset) {
        var _ = changing(dataset, state -> {
            refresh(state);
            evictor.evict(state, () -> cacheDirectories.of(dataset));
            return state;
        });
    }

    /// Keeps a dataset's replica, whole or being made, from being evicted; also after a restart.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is none
    public void pin(Digest dataset) {
        List<CachedReplica> replicas = cacheDirectories.of(dataset);
        if (replicas.isEmpty()) {
            throw new DriverException.NotFound("there is no replica of dataset " + dataset + " on this node");
        }
        cacheDirectories.pin(replicas, true);
    }

    /// Undoes [#pin].
    public void unpin(Digest dataset) {
        cacheDirectories.pin(cacheDirectories.of(dataset), false);
    }

    /// Until `keeper` says [#unpin], and as long as this process lives, no replica of the dataset makes room for
    /// one of another: two that are both to stay, and do not fit beside each other, would make room for each
    /// other for ever. Whoever calls [#evict] removes it all the same.
    ///
    /// @param keeper tells who keeps it from all others that keep the same
    public void pin(Digest dataset, Object keeper) {
        states.with(dataset, state -> state.pin(keeper));
    }

    /// Undoes [#pin] of the same `keeper`, and of no other.
    public void unpin(Digest dataset, Object keeper) {
        states.with(dataset, state -> state.unpin(keeper));
    }

    /// Every dataset that is attached, on a disk or on its way there, ordered by digest; one with replicas in
    /// several cache directories is several.
    public List<ReplicaStatus> list() {
        return listing.all();
    }

    /// The dataset that is meant, of those that are attached, on a disk, or were either since the driver started.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if it is none of them
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it may be several
    public Digest find(DatasetName name) {
        return listing.named(name);
    }

    /// Whether this node has a cache directory at all.
    public boolean areKept() {
        return !settings.caches().isEmpty();
    }

    /// How far a dataset is on its way to this node's disks; empty if it is not here.
    ///
    /// @param beginning of its digest, as volumes' ids have it
    public Optional<ReplicaStatus> status(String beginning) {
        return listing.status(beginning);
    }

    /// What is wrong with a dataset here, though it can be read. Asks no disk.
    ///
    /// @param beginning of its digest, as volumes' ids have it
    public Optional<String> problem(String beginning) {
        return listing.problem(beginning);
    }

    /// What is attached, as it was last seen. Asks no disk.
    List<ImageMount> attached() {
        return listing.attached();
    }

    /// What each cache directory still takes without an eviction, in bytes; without those that cannot be read.
    Map<Path, Long> freeBytes() {
        return cacheDirectories.freeBytes();
    }

    /// Whether each cache directory can be read, as far as is known. Asks no disk.
    Map<Path, Boolean> readableCaches() {
        return cacheDirectories.readable();
    }

    /// The datasets that this process has anything in memory of.
    Set<Digest> remembered() {
        return Stream.concat(states.keys(), threads.datasets().stream()).collect(Collectors.toSet());
    }

    ReplicaCounts counts() {
        return counts;
    }

    /// Cache directories that are full or fail, for people.
    public List<String> cacheProblems() {
        return cacheDirectories.problems();
    }

    @Override
    public void close() {
        disks.forEach(DiskWatch::close);
        threads.close(CLOSE_LIMIT);
        calls.close();
    }
}

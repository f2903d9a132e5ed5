package dev.siphon.node.replica;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.MountedDatasets.Nearby;
import dev.siphon.node.mount.SharedValues;
import dev.siphon.node.replica.cache.CacheDirectory;
import dev.siphon.node.replica.cache.CachedReplica;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Manages the datasets of this node. Attaches them at once over their images on CephFS, and fills replicas in the
/// background. Switches trees under their readers, and evicts replicas to make room.
///
/// Calls for one dataset are serialized. Every call is idempotent and has a deadline. Closing keeps all mounts; the
/// next [Replicas] finds them. Throws DEADLINE_EXCEEDED if a file system hangs, ABORTED if an earlier call for the
/// dataset has not ended, UNAVAILABLE if too many calls hang.
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
    private final TreeAttacher attacher;
    private final ImageReachability reach;
    private final Consumer<String> warn;
    private List<DiskWatch> disks = List.of();
    private final ReplicaCounts counts = new ReplicaCounts();
    private final SharedValues<Digest, DatasetState> states;
    private final ReplicaListing listing;

    private Replicas(ReplicaSettings settings, BackgroundTasks tasks, Consumer<String> warn, FillTurns turns) {
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
        this.reconciler = new ReplicaReconciler(
                cacheDirectories, switcher, evictor, calls, settings, threads::isClosed, counts, turns);
        this.listing = new ReplicaListing(states, cacheDirectories);
        this.choice = new TreeChoice(imageMounts, cacheDirectories, switcher, evictor, settings);
        this.attacher = new TreeAttacher(folders, imageMounts, cacheDirectories, switcher, choice, settings);
        this.reach = new ImageReachability(settings, calls);
    }

    /// Finds what an earlier run left on disks and in the kernel. Resumes unfinished fills, and verifies every
    /// replica in use.
    ///
    /// @param warn called with the reason when a cache directory becomes unreadable; must not block
    public static Replicas start(ReplicaSettings settings, BackgroundTasks tasks, Consumer<String> warn) {
        return start(settings, tasks, warn, new FillTurns(false, System::nanoTime));
    }

    /// The same, on a node whose fills may take turns with those of other nodes.
    public static Replicas start(
            ReplicaSettings settings, BackgroundTasks tasks, Consumer<String> warn, FillTurns turns) {
        Replicas replicas = new Replicas(settings, tasks, warn, turns);
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
                        states.with(digest, state -> state.request(true));
                    }
                    threads.wake(digest);
                });
    }

    /// Wakes every dataset that reads from a failing disk, to switch its tree to CephFS before any other step.
    private void abandonCache(Path cache) {
        states.values()
                .filter(state -> state.known().servedFrom().contains(cache))
                .map(DatasetState::digest)
                .forEach(threads::wake);
        cacheDirectories.at(cache).trouble().map(CacheDirectory.Trouble::why).ifPresent(warn);
    }

    /// Queries the kernel before a dataset's first step, on its own thread: its file system may hang.
    private Optional<Duration> step(DatasetState state) {
        if (!state.known().kernelAsked()) {
            refresh(state);
        }
        return reconciler.step(state);
    }

    private void refresh(DatasetState state) {
        locks.take(state.digest(), () -> {
            attacher.find(state);
            return state;
        });
    }

    /// Runs `body` with a dataset's state, and then wakes the dataset's thread.
    private <T> T changing(Digest dataset, Function<DatasetState, T> body) {
        T result = states.use(dataset, body);
        threads.wake(dataset);
        return result;
    }

    /// Mounts a dataset's image at once and requests a replica. An existing replica is used once it is verified.
    /// The first fill waits for [#chooseTree] up to [GpuProximity#patience].
    ///
    /// @return the state at return; its tree stays the same later
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the image or its manifest cannot be read
    /// @throws DriverException.BackendFault (INTERNAL) if the two do not match, or belong to another dataset
    /// @throws DriverException.Unsupported (UNIMPLEMENTED) if the kernel has no loop devices, or neither EROFS nor
    ///     what erofsfuse needs
    public ImageMount attach(DatasetImage image) {
        return changing(image.digest(), state -> {
            ImageMount imageMount = locks.take(image.digest(), () -> attacher.attach(state, image));
            state.request(false);
            cacheDirectories.used(state.digest());
            return imageMount;
        });
    }

    /// Mounts a dataset's tree over a whole and verified replica, while its image cannot be reached. First verifies the
    /// replica if necessary.
    ///
    /// @param image where the image and its manifest will be
    /// @return the state at return; the tree reads a replica
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the node has no whole replica, or reads the tree
    ///     from CephFS
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if the replica is still being verified
    public ImageMount attachReplica(DatasetImage image) {
        Digest dataset = image.digest();
        return changing(dataset, state -> {
            refresh(state);
            if (!state.known().isAttached()) {
                verify(state);
            }
            ImageMount tree = locks.take(dataset, () -> attacher.attachReplica(state, image));
            cacheDirectories.used(dataset);
            return tree;
        });
    }

    private void verify(DatasetState state) {
        String none = "this node has no whole replica of dataset " + state.digest();
        if (cacheDirectories.whole(state.digest()).isEmpty()) {
            throw new DriverException.BackendUnavailable(none);
        }
        try {
            var _ = warm(state.digest(), settings.pace().callLimit(), _ -> {}, () -> false);
        } catch (DriverException.InUse | DriverException.OperationPending gone) {
            throw new DriverException.BackendUnavailable(none + ": " + gone.getMessage(), gone);
        }
    }

    /// Chooses the best tree of an attached dataset for a pod, and requests a replica for it. The first call
    /// decides where the first replica is filled. A pod with devices elsewhere gets another tree, with its own
    /// replica if there is room. Until that is whole, the tree is read from the dataset's current source. Repeated
    /// calls return the same tree while it is attached.
    ///
    /// @param nearest the cache directories nearest to the pod's devices; empty if it does not matter
    /// @return the tree to bind-mount; empty if it does not matter, or if the dataset is not attached
    public Optional<Nearby> chooseTree(Digest dataset, List<Path> nearest) {
        return changing(dataset, state -> {
            if (nearest.isEmpty() || !choice.isPossible()) {
                state.want(wanted -> wanted.nearest(List.of()));
                return Optional.empty(); // without waiting for a disk
            }
            return locks.take(dataset, settings.near().limit(), () -> {
                attacher.find(state);
                return choice.readable(state).map(common -> choice.choose(state, common, nearest));
            });
        });
    }

    /// Moves the replica behind an attached dataset's common tree to one of `nearest`, near the current pods'
    /// devices. Fills it there if necessary, and switches the tree once the replica is whole. The old replica stays
    /// until its room is needed.
    ///
    /// @return the new cache directory. Empty if the replica is or will be in `nearest`, or if there is no room for
    ///     it ([GpuProximity#fillsSecond]). Also empty if the dataset has no replica and none is planned.
    public Optional<Path> follow(Digest dataset, List<Path> nearest) {
        if (!choice.isPossible()) {
            return Optional.empty();
        }
        Optional<Path> moved = states.use(
                dataset,
                state -> locks.take(dataset, settings.near().limit(), () -> {
                    attacher.find(state);
                    return choice.readable(state).flatMap(common -> choice.move(state, common, nearest));
                }));
        moved.ifPresent(_ -> threads.wake(dataset));
        return moved;
    }

    /// Unmounts a dataset's tree after its last user has left. The replica stays until its room is needed. Succeeds
    /// if the tree is not mounted.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a volume still shows it, or a file in it is open
    public void detach(ImageMountKey key) {
        var _ = changing(key.digest(), state -> {
            locks.take(key.digest(), () -> {
                imageMounts.detach(key);
                switcher.gone(state, key);
                return key;
            });
            cacheDirectories.used(state.digest());
            return key;
        });
    }

    /// Requests a replica, or verifies an existing one, even though the dataset is not attached.
    public void warm(DatasetImage image) {
        var _ = changing(image.digest(), state -> {
            locks.take(image.digest(), () -> {
                attacher.find(state);
                folders.make(state.key(), image); // lets a fill resume after a restart
                return image;
            });
            state.found(image);
            state.request(true);
            return image;
        });
    }

    /// Requests a replica of a dataset, or verifies the existing one, and reports the progress until it is whole.
    /// The first failure is thrown; the driver keeps retrying in the background.
    ///
    /// @param limit how long to wait; the fill continues afterwards
    /// @param progress called at first, at each change, and when the replica is whole
    /// @param gone whether the caller has stopped waiting
    /// @return whether the replica is whole and verified; false if the caller stopped waiting before
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the image is out of reach, or there is no cache
    ///     directory
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if no directory takes it
    /// @throws DriverException.OperationPending (ABORTED) if it is evicted meanwhile
    /// @throws DriverException as [dev.siphon.node.replica.cache.ReplicaFill#run]
    public boolean warm(Digest dataset, Duration limit, Consumer<ReplicaStatus> progress, BooleanSupplier gone) {
        return warm(dataset, OptionalLong.of(System.nanoTime() + limit.toNanos()), progress, gone);
    }

    /// @param end the deadline, by [System#nanoTime]; empty for none
    public boolean warm(Digest dataset, OptionalLong end, Consumer<ReplicaStatus> progress, BooleanSupplier gone) {
        return states.use(dataset, state -> {
            refresh(state); // an earlier run may have left it
            long before = state.known().failures().count();
            if (!state.known().isAttached() && !cacheDirectories.whole(dataset).isEmpty()) {
                state.request(true); // a check needs no image
                threads.wake(dataset);
            } else if (state.known().servedFrom().isEmpty()) {
                warm(reach.image(state));
            }
            WarmupProgress fill = new WarmupProgress(state, before, () -> listing.status(state));
            return counts.fillsAhead().until(dataset, () -> fill.follow(end, progress, gone));
        });
    }

    /// Removes a dataset's replicas, and stops a fill. Trees stay attached, over CephFS. The next attach or warm
    /// requests a replica again. Succeeds if there is none.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it is pinned, or the path of its image is unknown
    public void evict(Digest dataset) {
        var _ = changing(dataset, state -> {
            refresh(state);
            evictor.evict(state, () -> cacheDirectories.of(dataset));
            return state;
        });
    }

    /// Pins a dataset's replicas, whole or being filled. The pin survives restarts.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is no replica
    public void pin(Digest dataset) {
        List<CachedReplica> replicas = cacheDirectories.of(dataset);
        if (replicas.isEmpty()) {
            throw new DriverException.NotFound("there is no replica of dataset " + dataset + " on this node");
        }
        cacheDirectories.pin(replicas, true);
    }

    /// Removes the pin.
    public void unpin(Digest dataset) {
        cacheDirectories.pin(cacheDirectories.of(dataset), false);
    }

    /// Protects the dataset's replicas from eviction in favour of others, until `keeper` calls [#releaseFor] or
    /// this process ends. Otherwise two wanted replicas that do not fit together would evict each other forever.
    /// [#evict] still removes them.
    ///
    /// @param keeper tells this request from others for the same dataset
    public void keepFor(Digest dataset, Object keeper) {
        evictor.keepFor(dataset, keeper);
    }

    /// Ends the protection by `keeper` only.
    public void releaseFor(Digest dataset, Object keeper) {
        evictor.releaseFor(dataset, keeper);
    }

    /// Lists every dataset that is attached, on a disk or being filled, ordered by digest. A dataset with replicas
    /// in several cache directories appears once for each.
    public List<ReplicaStatus> list() {
        return listing.all();
    }

    /// Returns the dataset with this name. Searches the datasets that are attached, on a disk, or known since the
    /// driver started.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if none matches
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if several match
    public Digest find(DatasetName name) {
        return listing.named(name);
    }

    /// Returns whether this node has a cache directory.
    public boolean areKept() {
        return !settings.caches().isEmpty();
    }

    /// Returns the progress of a dataset towards this node's disks; empty if the node does not have it.
    ///
    /// @param beginning the beginning of its digest, as in volume ids
    public Optional<ReplicaStatus> status(String beginning) {
        return listing.status(beginning);
    }

    /// Returns the problem of a dataset that can still be read. Accesses no disk.
    ///
    /// @param beginning the beginning of its digest, as in volume ids
    public Optional<String> problem(String beginning) {
        return listing.problem(beginning);
    }

    /// Returns the image mounts as last seen. Accesses no disk.
    List<ImageMount> attached() {
        return listing.attached();
    }

    /// Returns the room in each cache directory; omits unreadable ones.
    List<ReplicaPlacement.Candidate> rooms() {
        return cacheDirectories.rooms();
    }

    /// Returns the last known readability of each cache directory. Accesses no disk.
    Map<Path, Boolean> readableCaches() {
        return cacheDirectories.readable();
    }

    /// Returns the datasets with state in this process's memory.
    Set<Digest> remembered() {
        return Stream.concat(states.keys(), threads.datasets().stream()).collect(Collectors.toSet());
    }

    ReplicaCounts counts() {
        return counts;
    }

    /// Returns why cache directories are not used now, for administrators.
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

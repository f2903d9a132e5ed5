package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.chunk.ChunkWorkers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/// The in-memory state of one dataset: what was requested, what was last seen, and when its replicas were last
/// checked. Disks and kernel hold the rest. Each run of the driver starts with an empty state.
final class DatasetState {
    private final Digest digest;
    private final ChunkWorkers workers;
    private final ChunkWorkers scrubLane;

    /// Held by the thread that fills, checks, switches or removes the dataset's replicas.
    private final Semaphore work = new Semaphore(1, true);

    private Optional<DatasetImage> image = Optional.empty();
    private final Map<ImageMountKey, ImageMount> attached = new HashMap<>();
    private Optional<String> problem = Optional.empty();
    private long attachmentChanges;
    private final Map<Path, ReplicaCheck> checks = new HashMap<>();
    private Optional<Instant> use = Optional.empty();
    private boolean filling;
    private boolean kernelAsked;
    private WantedReplicas wanted = WantedReplicas.NONE;
    private final Set<Object> keepers = new HashSet<>();
    private int pauses;
    private long failures;
    private Optional<DriverException> failure = Optional.empty();

    DatasetState(Digest digest, ReplicaPolicy policy) {
        this.digest = digest;
        this.workers = new ChunkWorkers("dataset " + digest, policy.chunksInFlight(), policy.patience());
        this.scrubLane = new ChunkWorkers("the check of dataset " + digest, 1, policy.patience());
    }

    Digest digest() {
        return digest;
    }

    /// Returns the key of the common tree, which exists whether or not pods' devices are known.
    ImageMountKey key() {
        return ImageMountKey.anywhere(digest);
    }

    ChunkWorkers lanes() {
        return workers;
    }

    ChunkWorkers scrubLane() {
        return scrubLane;
    }

    /// Locks the dataset's replicas, once their current user has finished.
    ///
    /// @return whether that succeeded within `limit`; if so, the caller must [#unlock]
    boolean tryLock(Duration limit) {
        try {
            return work.tryAcquire(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    void unlock() {
        work.release();
    }

    /// Asks the thread that works on the replicas to stop, until [#resume].
    synchronized void pause() {
        pauses++;
    }

    synchronized void resume() {
        pauses--;
    }

    synchronized boolean isPaused() {
        return pauses > 0;
    }

    synchronized void image(DatasetImage known) {
        image = Optional.of(known);
    }

    synchronized Optional<DatasetImage> image() {
        return image;
    }

    synchronized void attached(ImageMount now) {
        if (attached.put(now.key(), now) == null) {
            attachmentChanges++;
        }
    }

    /// Counts how often an image mount was added, or the replica of the common tree moved.
    synchronized long attachmentChanges() {
        return attachmentChanges;
    }

    synchronized List<ImageMount> attachments() {
        return List.copyOf(attached.values());
    }

    synchronized Optional<ImageMount> attachment(ImageMountKey key) {
        return Optional.ofNullable(attached.get(key));
    }

    /// Returns the image mount that reads the replica in `cache`, or else one that reads from CephFS.
    synchronized Optional<ImageMount> attachment(Optional<Path> cache) {
        return attached.values().stream()
                .filter(now -> now.place().cache().equals(cache))
                .findFirst()
                .or(() -> attached.values().stream()
                        .filter(now -> now.place().cache().isEmpty())
                        .findFirst());
    }

    synchronized boolean isAttached() {
        return !attached.isEmpty();
    }

    /// Records that the kernel was queried for the dataset's mounts.
    synchronized void markKernelAsked() {
        kernelAsked = true;
    }

    synchronized boolean isKernelAsked() {
        return kernelAsked;
    }

    /// Returns the cache directories whose replicas are behind the dataset's trees.
    synchronized Set<Path> servedFrom() {
        return attached.values().stream()
                .flatMap(now -> now.place().cache().stream())
                .collect(Collectors.toSet());
    }

    /// Returns the image mounts that read the replica in `cache`.
    synchronized List<ImageMountKey> servedFrom(Path cache) {
        return attached.values().stream()
                .filter(now -> now.place().cache().filter(cache::equals).isPresent())
                .map(ImageMount::key)
                .toList();
    }

    /// Returns whether the replica in `cache` is read, or could be at any moment.
    synchronized boolean mayRead(Path cache) {
        Set<Path> served = servedFrom();
        return served.contains(cache)
                || attached.containsKey(ImageMountKey.at(digest, cache))
                || (served.isEmpty() && isAttached());
    }

    /// Records a use now, to be written to the replicas later.
    synchronized void use() {
        use = Optional.of(Instant.now());
    }

    /// Returns the use that is not yet written to the replicas, and clears it.
    synchronized Optional<Instant> takeUse() {
        Optional<Instant> taken = use;
        use = Optional.empty();
        return taken;
    }

    /// Returns what is wanted now.
    synchronized WantedReplicas wanted() {
        return wanted;
    }

    /// Changes what is wanted.
    synchronized void want(UnaryOperator<WantedReplicas> change) {
        wanted = change.apply(wanted);
    }

    /// Requests another replica instead of one that is no longer read: if the dataset is attached, anywhere; if
    /// `cache` has a tree of its own, there too.
    synchronized void requestInsteadOf(Path cache) {
        if (isAttached()) {
            wanted = wanted.requested(false);
        }
        if (attached.containsKey(ImageMountKey.at(digest, cache))) {
            wanted = wanted.requestedAt(cache);
        }
    }

    /// Records that an image mount is gone. The last one also cancels the requested replica, unless it is wanted
    /// without a mount.
    synchronized void unattached(ImageMountKey key) {
        attached.remove(key);
        for (Path cache : wanted.at()) {
            wanted = ImageMountKey.at(digest, cache).equals(key) ? wanted.withoutAt(cache) : wanted;
        }
        if (attached.isEmpty()) {
            wanted = wanted.detached();
        }
    }

    /// Protects the replicas from eviction in favour of others, pinned on disk or not, until `keeper` calls
    /// [#releaseFor].
    synchronized void keepFor(Object keeper) {
        keepers.add(keeper);
    }

    /// Ends the protection by `keeper`; that by others stays.
    synchronized void releaseFor(Object keeper) {
        keepers.remove(keeper);
    }

    synchronized boolean isPinned() {
        return !keepers.isEmpty();
    }

    synchronized boolean isWanted() {
        return wanted.isAny();
    }

    /// Returns whether the state holds information that neither disks nor kernel have.
    synchronized boolean isRemembered() {
        return isAttached() || isWanted() || isPinned() || use.isPresent() || !checks.isEmpty();
    }

    /// Prefers `cache` for the common tree's replica, unless another thread changed the preference while `cache` was
    /// chosen.
    ///
    /// @param known the earlier preference
    /// @return whether `cache` is now preferred
    synchronized boolean preferUnlessChanged(List<Path> known, Path cache) {
        if (!wanted.preferred().equals(known)) {
            return false;
        }
        wanted = wanted.preferring(cache);
        return true;
    }

    /// Moves the replica of the common tree to `cache`, and requests it there.
    synchronized void move(Path cache) {
        wanted = wanted.movedTo(cache);
        attachmentChanges++;
    }

    synchronized void filling(boolean now) {
        filling = now;
    }

    synchronized boolean isFilling() {
        return filling;
    }

    synchronized void problem(Optional<String> now) {
        problem = now;
    }

    /// Records a failed step as the dataset's problem; a later fill or switch clears it.
    synchronized void failed(RuntimeException why) {
        failures++;
        failure = why instanceof DriverException said
                ? Optional.of(said)
                : Optional.of(new DriverException.BackendFault("dataset " + digest + ": " + why.getMessage(), why));
        problem = Optional.of(String.valueOf(why.getMessage()));
    }

    /// Returns the number of failed steps.
    synchronized long failures() {
        return failures;
    }

    /// Returns why the last step failed, if there are more than `count` failures.
    synchronized Optional<DriverException> failureAfter(long count) {
        return failures > count ? failure : Optional.empty();
    }

    synchronized Optional<String> problem() {
        return problem;
    }

    /// Records the result of a complete read of the replica in `cache`.
    synchronized void checked(Path cache, ReplicaCheck result) {
        checks.put(cache, result);
    }

    /// Returns the result of the last complete read in this run of the driver.
    synchronized ReplicaCheck lastCheck(Path cache) {
        return checks.getOrDefault(cache, new ReplicaCheck.Never());
    }

    /// Forgets the last check, because the replica is gone.
    synchronized void unchecked(Path cache) {
        checks.remove(cache);
    }
}

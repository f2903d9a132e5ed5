package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.chunk.ChunkWorkers;
import dev.siphon.node.replica.cache.CachedReplica;
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
    private Optional<Path> corrupt = Optional.empty();
    private long attachmentChanges;
    private final Map<Path, Check> checked = new HashMap<>();
    private Optional<Instant> use = Optional.empty();
    private boolean filling;
    private boolean kernelAsked;
    private boolean wanted;
    private final Set<Object> keepers = new HashSet<>();
    private boolean warm;
    private final Set<Path> wantedAt = new HashSet<>();
    private List<Path> preferredCaches = List.of();
    private Optional<Instant> settlesAt = Optional.empty();
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

    /// Requests a replica; `alsoUnattached` keeps the request when the last image mount is gone.
    synchronized void requestReplica(boolean alsoUnattached) {
        wanted = true;
        warm |= alsoUnattached;
    }

    /// Requests a replica in `cache`, even if another directory has one.
    synchronized void requestReplicaIn(Path cache) {
        wantedAt.add(cache);
    }

    synchronized Set<Path> wantedAt() {
        return Set.copyOf(wantedAt);
    }

    /// Cancels [#requestReplicaIn].
    synchronized void cancelReplicaIn(Path cache) {
        wantedAt.remove(cache);
    }

    /// Records that an image mount is gone. The last one also cancels the requested replica, unless
    /// [#requestReplica] wants it without a mount.
    synchronized void unattached(ImageMountKey key) {
        attached.remove(key);
        wantedAt.removeIf(cache -> ImageMountKey.at(digest, cache).equals(key));
        if (attached.isEmpty()) {
            wanted = warm;
            preferredCaches = List.of();
            settlesAt = Optional.empty();
        }
    }

    /// Records that the replica in `cache` is whole and verified, which fulfils its request.
    synchronized void has(Path cache) {
        wantedAt.remove(cache);
        if (preferredCaches.isEmpty() || preferredCaches.contains(cache)) {
            wanted = false;
            warm = false;
        }
    }

    /// Cancels all requested replicas.
    synchronized void cancelReplicas() {
        wanted = false;
        warm = false;
        wantedAt.clear();
        preferredCaches = List.of();
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
        return wanted || !wantedAt.isEmpty();
    }

    /// Returns whether the state holds information that neither disks nor kernel have.
    synchronized boolean isRemembered() {
        return isAttached() || isWanted() || isPinned() || use.isPresent() || corrupt.isPresent() || !checked.isEmpty();
    }

    /// Returns whether a replica for the common tree is wanted, if there is none.
    synchronized boolean isWantedAnywhere() {
        return wanted;
    }

    /// Sets the directory of the common tree's replica.
    synchronized void setPreferredCache(Path cache) {
        preferredCaches = List.of(cache);
        settlesAt = Optional.empty();
    }

    /// Calls [#setPreferredCache], unless another thread changed the preference while `cache` was chosen.
    ///
    /// @param known the earlier result of [#preferredCaches]
    /// @return whether `cache` is now preferred
    synchronized boolean setPreferredCacheUnlessChanged(List<Path> known, Path cache) {
        if (!preferredCaches.equals(known)) {
            return false;
        }
        setPreferredCache(cache);
        return true;
    }

    /// Moves the replica of the common tree to `cache`, and requests it there.
    synchronized void move(Path cache) {
        setPreferredCache(cache);
        wanted = true;
        attachmentChanges++;
    }

    /// Delays the first fill to `until` at the latest, because a pod is about to name the best directories.
    synchronized void unsettled(Instant until) {
        settlesAt = Optional.of(until);
    }

    /// Prefers one of `nearest` for the first replica; an empty list means no preference.
    synchronized void preferNearest(List<Path> nearest) {
        settlesAt = Optional.empty();
        if (preferredCaches.isEmpty()) {
            preferredCaches = List.copyOf(nearest);
        }
    }

    /// Returns the preferred directories for the common tree's replica; empty if none is known yet.
    synchronized List<Path> preferredCaches() {
        return preferredCaches;
    }

    /// Returns how long the first fill still waits for a preference.
    synchronized Duration untilSettled() {
        return settlesAt
                .map(end -> Duration.between(Instant.now(), end))
                .filter(Duration::isPositive)
                .orElse(Duration.ZERO);
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

    /// Records that the replica in `cache` is corrupt and must be abandoned; empty clears the mark.
    synchronized void markCorrupt(Optional<Path> cache) {
        corrupt = cache;
    }

    synchronized Optional<Path> corruptReplica() {
        return corrupt;
    }

    /// A successful check of a whole replica.
    ///
    /// @param failures the failures of its disk before that, as in
    ///     [dev.siphon.node.replica.cache.CacheDirectory#failures]
    record Check(Instant at, long failures) {}

    /// Records that the whole replica was read and is intact.
    ///
    /// @param failures the failures of its disk when the check began
    synchronized void checked(CachedReplica replica, long failures) {
        checked.put(replica.cache(), new Check(Instant.now(), failures));
    }

    /// Returns the last successful check in this run of the driver.
    synchronized Optional<Check> lastCheck(CachedReplica replica) {
        return Optional.ofNullable(checked.get(replica.cache()));
    }

    /// Forgets the last check, because the replica is gone or no longer trusted.
    synchronized void unchecked(CachedReplica replica) {
        checked.remove(replica.cache());
    }
}

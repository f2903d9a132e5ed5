package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.replica.cache.CachedReplica;
import dev.siphon.node.replica.cache.ChunkWorkers;
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

/// What is known of one dataset while the driver runs: what was asked for, what was last seen, and when its
/// replicas were last checked. The disk and the kernel know the rest; a restart begins with an empty one.
final class DatasetState {
    private final Digest digest;
    private final ChunkWorkers workers;
    private final ChunkWorkers scrubLane;

    /// Held by whoever fills, checks, swaps or removes the dataset's replicas: one at a time.
    private final Semaphore work = new Semaphore(1, true);

    private Optional<DatasetImage> image = Optional.empty();
    private final Map<ImageMountKey, ImageMount> attached = new HashMap<>();
    private Optional<String> problem = Optional.empty();
    private Optional<Path> markCorrupt = Optional.empty();
    private long attachmentChanges;
    private final Map<Path, Check> checked = new HashMap<>();
    private Optional<Instant> use = Optional.empty();
    private boolean filling;
    private boolean markKernelAsked;
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

    /// The attachment that every volume of the dataset has, be pods' devices known or not.
    ImageMountKey key() {
        return ImageMountKey.anywhere(digest);
    }

    ChunkWorkers lanes() {
        return workers;
    }

    ChunkWorkers scrubLane() {
        return scrubLane;
    }

    /// Takes the dataset's replicas for itself, once whoever has them has left off.
    ///
    /// @return whether that was within `limit`; if so, [#unlock] has to follow
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

    /// Asks whoever works on the replicas to leave off, until [#resume].
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

    /// How many times something was attached that was not, or was to be read from elsewhere.
    synchronized long attachmentChanges() {
        return attachmentChanges;
    }

    /// All of its attachments.
    synchronized List<ImageMount> attachments() {
        return List.copyOf(attached.values());
    }

    synchronized Optional<ImageMount> attachment(ImageMountKey key) {
        return Optional.ofNullable(attached.get(key));
    }

    /// The attachment that the replica in `cache` is behind, or else one that is read from CephFS.
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

    /// The kernel was asked whether it is attached.
    synchronized void markKernelAsked() {
        markKernelAsked = true;
    }

    synchronized boolean isKernelAsked() {
        return markKernelAsked;
    }

    /// The cache directories whose replicas are behind its trees.
    synchronized Set<Path> servedFrom() {
        return attached.values().stream()
                .flatMap(now -> now.place().cache().stream())
                .collect(Collectors.toSet());
    }

    /// The attachments that are read from the replica in `cache`.
    synchronized List<ImageMountKey> servedFrom(Path cache) {
        return attached.values().stream()
                .filter(now -> now.place().cache().filter(cache::equals).isPresent())
                .map(ImageMount::key)
                .toList();
    }

    /// Whether the replica in `cache` is read, or could be at any moment.
    synchronized boolean mayRead(Path cache) {
        Set<Path> served = servedFrom();
        return served.contains(cache)
                || attached.containsKey(ImageMountKey.at(digest, cache))
                || (served.isEmpty() && isAttached());
    }

    /// The dataset is used now, which its replicas are to note.
    synchronized void use() {
        use = Optional.of(Instant.now());
    }

    /// A use that was not noted yet.
    synchronized Optional<Instant> takeUse() {
        Optional<Instant> taken = use;
        use = Optional.empty();
        return taken;
    }

    /// A replica is to be made.
    synchronized void requestReplica(boolean alsoUnattached) {
        wanted = true;
        warm |= alsoUnattached;
    }

    /// One is to be made in `cache`, whether or not there is one elsewhere.
    synchronized void requestReplicaIn(Path cache) {
        wantedAt.add(cache);
    }

    synchronized Set<Path> wantedAt() {
        return Set.copyOf(wantedAt);
    }

    /// None is to be made there any more.
    synchronized void cancelReplicaIn(Path cache) {
        wantedAt.remove(cache);
    }

    /// An attachment is gone. With the last no replica is to be made any more, unless [#requestReplica] said that
    /// it is wanted unattached too.
    synchronized void unattached(ImageMountKey key) {
        attached.remove(key);
        wantedAt.removeIf(cache -> ImageMountKey.at(digest, cache).equals(key));
        if (attached.isEmpty()) {
            wanted = warm;
            preferredCaches = List.of();
            settlesAt = Optional.empty();
        }
    }

    /// One in `cache` is there.
    synchronized void has(Path cache) {
        wantedAt.remove(cache);
        if (preferredCaches.isEmpty() || preferredCaches.contains(cache)) {
            wanted = false;
            warm = false;
        }
    }

    /// None is to be made until it is wanted again.
    synchronized void cancelReplicas() {
        wanted = false;
        warm = false;
        wantedAt.clear();
        preferredCaches = List.of();
    }

    /// Its replicas make no room for others', pinned or not, until `keeper` says [#unpin].
    synchronized void pin(Object keeper) {
        keepers.add(keeper);
    }

    /// Nothing, if others keep it still.
    synchronized void unpin(Object keeper) {
        keepers.remove(keeper);
    }

    synchronized boolean isPinned() {
        return !keepers.isEmpty();
    }

    synchronized boolean isWanted() {
        return wanted || !wantedAt.isEmpty();
    }

    /// Whether there is something to remember of it that neither the disk nor the kernel knows.
    synchronized boolean isRemembered() {
        return isAttached()
                || isWanted()
                || isPinned()
                || use.isPresent()
                || markCorrupt.isPresent()
                || !checked.isEmpty();
    }

    /// Whether that is to be made which is behind the common tree, if it is not there.
    synchronized boolean isWantedAnywhere() {
        return wanted;
    }

    /// The replica behind the common tree is made in `cache`.
    synchronized void setPreferredCache(Path cache) {
        preferredCaches = List.of(cache);
        settlesAt = Optional.empty();
    }

    /// As [#setPreferredCacheUnlessChanged], unless it was sent elsewhere while `cache` was chosen.
    ///
    /// @param known what [#preferredCaches] was before
    /// @return whether it is made there
    synchronized boolean setPreferredCacheUnlessChanged(List<Path> known, Path cache) {
        if (!preferredCaches.equals(known)) {
            return false;
        }
        setPreferredCache(cache);
        return true;
    }

    /// The replica behind the common tree goes to `cache`, where it is made if it is not there.
    synchronized void move(Path cache) {
        setPreferredCache(cache);
        wanted = true;
        attachmentChanges++;
    }

    /// A pod is about to say where the first replica had better be.
    synchronized void unsettled(Instant until) {
        settlesAt = Optional.of(until);
    }

    /// The first replica had better be in one of `nearest`; it does not matter if that is empty.
    synchronized void preferNearest(List<Path> nearest) {
        settlesAt = Optional.empty();
        if (preferredCaches.isEmpty()) {
            preferredCaches = List.copyOf(nearest);
        }
    }

    /// Where the replica behind the common tree is made, or had better be; empty if nobody has said yet.
    synchronized List<Path> preferredCaches() {
        return preferredCaches;
    }

    /// How long the first fill waits for somebody to say that.
    synchronized Duration untilSettled() {
        return settlesAt
                .map(end -> Duration.between(Instant.now(), end))
                .filter(Duration::isPositive)
                .orElse(Duration.ZERO);
    }

    synchronized void filling(boolean now) {
        filling = now;
    }

    /// Whether a replica is being made right now.
    synchronized boolean isFilling() {
        return filling;
    }

    synchronized void problem(Optional<String> now) {
        problem = now;
    }

    /// A step failed, which is the dataset's problem until it goes right.
    synchronized void failed(RuntimeException why) {
        failures++;
        failure = why instanceof DriverException said
                ? Optional.of(said)
                : Optional.of(new DriverException.BackendFault("dataset " + digest + ": " + why.getMessage(), why));
        problem = Optional.of(String.valueOf(why.getMessage()));
    }

    /// How many steps have failed.
    synchronized long failures() {
        return failures;
    }

    /// Why the last step failed, if any has since there were so many failures.
    synchronized Optional<DriverException> failureAfter(long count) {
        return failures > count ? failure : Optional.empty();
    }

    synchronized Optional<String> problem() {
        return problem;
    }

    /// The replica in `cache` is bad, and is to be left.
    synchronized void markCorrupt(Optional<Path> cache) {
        markCorrupt = cache;
    }

    synchronized Optional<Path> markCorrupt() {
        return markCorrupt;
    }

    /// A time at which all of a replica was right.
    ///
    /// @param failures of its disk before that, as of [dev.siphon.node.replica.cache.CacheDirectory#failures]
    record Check(Instant at, long failures) {}

    /// All of a replica was read and right.
    ///
    /// @param failures of its disk when that began
    synchronized void checked(CachedReplica replica, long failures) {
        checked.put(replica.cache(), new Check(Instant.now(), failures));
    }

    /// When that was, in this run of the driver.
    synchronized Optional<Check> lastCheck(CachedReplica replica) {
        return Optional.ofNullable(checked.get(replica.cache()));
    }

    /// It is gone, or not to be trusted any more.
    synchronized void unchecked(CachedReplica replica) {
        checked.remove(replica.cache());
    }
}

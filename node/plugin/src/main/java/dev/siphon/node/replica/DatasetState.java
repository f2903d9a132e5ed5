package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.chunk.ChunkWorkers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/// The in-memory state of one dataset: what is known and what is wanted, each replaced as a whole. Also the lock for
/// the work on its replicas. Each run of the driver starts with an empty state.
final class DatasetState {
    private final Digest digest;
    private final ChunkWorkers workers;
    private final ChunkWorkers scrubLane;

    /// Held by the thread that fills, checks, switches or removes the dataset's replicas.
    private final Semaphore work = new Semaphore(1, true);

    private final AtomicInteger pauses = new AtomicInteger();
    private DatasetFacts known = DatasetFacts.NONE;
    private WantedReplicas wanted = WantedReplicas.NONE;

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

    /// Returns how many bytes were copied to replicas, and checked in them, in this run of the driver.
    long progressBytes() {
        return workers.processed() * Manifest.CHUNK_BYTES;
    }

    /// Returns what is done now to make a replica.
    synchronized FillStage fill() {
        boolean isWanted = wanted.isAny() && known.image().isPresent();
        return switch (known.fill()) {
            case FillStage.Queued _, FillStage.Running _ -> known.fill();
            case FillStage.Failed _ -> isWanted ? known.fill() : new FillStage.Idle();
            case FillStage.Idle _, FillStage.Due _ -> isWanted ? new FillStage.Due() : new FillStage.Idle();
        };
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
    void pause() {
        pauses.incrementAndGet();
    }

    void resume() {
        pauses.decrementAndGet();
    }

    boolean isPaused() {
        return pauses.get() > 0;
    }

    /// What is known and what is wanted at one moment.
    record Moment(DatasetFacts known, WantedReplicas wanted) {}

    synchronized Moment now() {
        return new Moment(known, wanted);
    }

    synchronized DatasetFacts known() {
        return known;
    }

    synchronized WantedReplicas wanted() {
        return wanted;
    }

    /// Changes what is known.
    synchronized void know(UnaryOperator<DatasetFacts> change) {
        known = change.apply(known);
    }

    /// Changes what is wanted.
    synchronized void want(UnaryOperator<WantedReplicas> change) {
        wanted = change.apply(wanted);
    }

    /// Requests a replica, as [WantedReplicas#requested].
    void request(boolean alsoUnattached) {
        want(requests -> requests.requested(alsoUnattached));
    }

    /// Requests a replica in `cache`, even if another directory has one.
    void requestAt(Path cache) {
        want(requests -> requests.requestedAt(cache));
    }

    /// Records where the image is.
    void found(DatasetImage image) {
        know(facts -> facts.withImage(image));
    }

    /// Records an image mount, or where it is read from now.
    void attached(ImageMount tree) {
        know(facts -> facts.withTree(tree));
    }

    /// Records that an image mount is gone, which ends the requests that were made for it.
    synchronized void unattached(ImageMountKey key) {
        known = known.withoutTree(key);
        for (Path cache : wanted.at()) {
            wanted = ImageMountKey.at(digest, cache).equals(key) ? wanted.withoutAt(cache) : wanted;
        }
        wanted = known.isAttached() ? wanted : wanted.detached();
    }

    /// Returns whether the replica in `cache` is read, or could be at any moment.
    boolean mayRead(Path cache) {
        DatasetFacts facts = known();
        return facts.servedFrom().contains(cache)
                || facts.tree(ImageMountKey.at(digest, cache)).isPresent()
                || (facts.servedFrom().isEmpty() && facts.isAttached());
    }

    /// Returns whether the state holds information that neither disks nor kernel have.
    synchronized boolean isRemembered() {
        return known.isAttached() || wanted.isAny() || !known.checks().isEmpty();
    }

    /// Requests another replica instead of one that is no longer read: if the dataset is attached, anywhere; if
    /// `cache` has a tree of its own, there too.
    synchronized void requestInsteadOf(Path cache) {
        wanted = known.isAttached() ? wanted.requested(false) : wanted;
        wanted = known.tree(ImageMountKey.at(digest, cache)).isPresent() ? wanted.requestedAt(cache) : wanted;
    }

    /// Prefers `cache` for the common tree's replica, unless another thread changed the preference while `cache` was
    /// chosen.
    ///
    /// @param before the earlier preference
    /// @return whether `cache` is now preferred
    synchronized boolean preferUnlessChanged(List<Path> before, Path cache) {
        boolean same = wanted.preferred().equals(before);
        wanted = same ? wanted.preferring(cache) : wanted;
        return same;
    }

    /// Prefers `cache` for the common tree's replica, unless the replica moved or an image mount was added since then.
    ///
    /// @param news [DatasetFacts#news] when `cache` was chosen
    synchronized void preferUnlessNews(long news, Path cache) {
        wanted = known.news() == news ? wanted.preferring(cache) : wanted;
    }

    /// Moves the replica of the common tree to `cache`, and requests it there.
    synchronized void move(Path cache) {
        wanted = wanted.movedTo(cache);
        known = known.withNews();
    }

    /// Records a failed step as the dataset's problem; a later fill or switch clears it.
    void failed(RuntimeException why) {
        DriverException failure = why instanceof DriverException said
                ? said
                : new DriverException.BackendFault("dataset " + digest + ": " + why.getMessage(), why);
        know(facts -> facts.withFailure(failure, String.valueOf(why.getMessage())));
    }
}

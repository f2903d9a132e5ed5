package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.replica.cache.CachedReplica;
import dev.siphon.node.replica.cache.Lanes;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// What is known of one dataset while the driver runs: what was asked for, what was last seen, and when its replicas
/// were last checked. The disk and the kernel know the rest; a restart begins with an empty one.
final class DatasetState {
    private final Digest digest;
    private final Lanes lanes;
    private final Lanes scrubLane;

    /// Held by whoever fills, checks, swaps or removes the dataset's replicas: one at a time.
    private final Semaphore work = new Semaphore(1, true);

    private Optional<DatasetImage> image = Optional.empty();
    private Optional<Attachment> attached = Optional.empty();
    private Optional<String> problem = Optional.empty();
    private Optional<String> damage = Optional.empty();
    private final Map<Path, Instant> checked = new HashMap<>();
    private Optional<Instant> use = Optional.empty();
    private boolean filling;
    private boolean found;
    private boolean wanted;
    private boolean warm;
    private int pauses;
    private long failures;
    private Optional<DriverException> failure = Optional.empty();

    DatasetState(Digest digest, Pace pace) {
        this.digest = digest;
        this.lanes = new Lanes("dataset " + digest, pace.chunksInFlight(), pace.patience());
        this.scrubLane = new Lanes("the check of dataset " + digest, 1, pace.patience());
    }

    Digest digest() {
        return digest;
    }

    AttachmentKey key() {
        return AttachmentKey.anywhere(digest);
    }

    Lanes lanes() {
        return lanes;
    }

    Lanes scrubLane() {
        return scrubLane;
    }

    /// Takes the dataset's replicas for itself, once whoever has them has left off.
    ///
    /// @return whether that was within `limit`; if so, [#leave] has to follow
    boolean enter(Duration limit) {
        try {
            return work.tryAcquire(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    void leave() {
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

    synchronized void attached(Attachment now) {
        attached = Optional.of(now);
    }

    synchronized Optional<Attachment> attached() {
        return attached;
    }

    /// The kernel was asked whether it is attached.
    synchronized void found() {
        found = true;
    }

    synchronized boolean isFound() {
        return found;
    }

    /// The cache directory whose replica is behind the tree, if one is.
    synchronized Optional<Path> servedFrom() {
        return attached.flatMap(now -> switch (now.place()) {
            case Place.Remote _ -> Optional.empty();
            case Place.Local local -> Optional.of(local.cache());
        });
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
    synchronized void want(boolean alsoUnattached) {
        wanted = true;
        warm |= alsoUnattached;
    }

    /// None is to be made any more, unless [#want] said that it is wanted unattached too.
    synchronized void unattached() {
        attached = Optional.empty();
        wanted = warm;
    }

    /// None is to be made until it is wanted again.
    synchronized void unwant() {
        wanted = false;
        warm = false;
    }

    synchronized boolean isWanted() {
        return wanted;
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

    /// The replica behind the tree is bad, and is to be left.
    synchronized void damaged(Optional<String> why) {
        damage = why;
    }

    synchronized Optional<String> damage() {
        return damage;
    }

    /// All of a replica was read and right.
    synchronized void checked(CachedReplica replica) {
        checked.put(replica.cache(), Instant.now());
    }

    /// When that was, in this run of the driver.
    synchronized Optional<Instant> lastCheck(CachedReplica replica) {
        return Optional.ofNullable(checked.get(replica.cache()));
    }

    /// It is gone, or not to be trusted any more.
    synchronized void unchecked(CachedReplica replica) {
        checked.remove(replica.cache());
    }
}

package dev.siphon.node.warm;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica.Order;
import dev.siphon.csi.dataset.DatasetReplica.Question;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.DatasetReplica.State;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.EncryptedSecret;
import dev.siphon.node.mount.CephCredentials;
import dev.siphon.node.mount.PinnedImages;
import dev.siphon.node.replica.ReplicaState;
import dev.siphon.node.replica.ReplicaStatus;
import dev.siphon.node.replica.Replicas;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Carries out one order: requests the dataset's key, fills the replica, and reports the progress. Afterwards it
/// checks periodically that the replica still exists.
final class ReplicaOrderWorker implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ReplicaOrderWorker.class);

    /// The interval between two checks of the replica.
    private static final Duration LOOK = Duration.ofSeconds(10);

    /// The deadline for the controller's answer.
    private static final Duration ANSWER = Duration.ofSeconds(30);

    private static final Duration MOUNT = Duration.ofMinutes(2);

    /// The deadline for a fill; longer than any fill takes.
    private static final Duration FILL = Duration.ofDays(2);

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    /// The progress between two reports, in percentage points.
    private static final int STEP = 5;

    private final String name;
    private final ReplicaOrders orders;
    private final PinnedImages images;
    private final Replicas replicas;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /// Guarded by the lock; empty once the order is withdrawn.
    private Optional<Order> order = Optional.empty();

    private boolean begun;
    private boolean left;

    /// The number of changes of [#order].
    private long changes;

    // used only by the thread that runs this
    private Optional<VolumeId.DatasetVolume> volume = Optional.empty();
    private Optional<PendingQuestion> asked = Optional.empty();
    private Optional<PinnedImage> held = Optional.empty();
    private Optional<Digest> kept = Optional.empty();
    private boolean whole;
    private Optional<Report> said = Optional.empty();
    private Optional<String> trouble = Optional.empty();
    private Duration pause = FIRST_PAUSE;

    private record PendingQuestion(Question question, EncryptedSecret.Reader reader, long end) {}

    private record PinnedImage(VolumeId.DatasetVolume volume, Digest digest) {}

    ReplicaOrderWorker(String name, ReplicaOrders orders, PinnedImages images, Replicas replicas) {
        this.name = name;
        this.orders = orders;
        this.images = images;
        this.replicas = replicas;
    }

    /// Sets the wanted order.
    void change(Order now) {
        set(Optional.of(now), false);
    }

    /// Withdraws the order.
    void end() {
        set(Optional.empty(), false);
    }

    /// Returns the wanted order; empty if it is withdrawn.
    Optional<Order> order() {
        lock.lock();
        try {
            return order;
        } finally {
            lock.unlock();
        }
    }

    /// Stops because the process ends; releases nothing.
    void abandon() {
        set(Optional.empty(), true);
    }

    private void set(Optional<Order> now, boolean leave) {
        lock.lock();
        try {
            // an update with the same spec only reflects this worker's own report
            if (begun && now.map(Order::toSpec).equals(order.map(Order::toSpec))) {
                left |= leave;
                return;
            }
            order = now;
            begun = true;
            left = leave;
            changes++;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void run() {
        long seen = 0;
        Duration wait = ANSWER;
        try {
            while (true) {
                Optional<Order> now;
                lock.lock();
                try {
                    long nanos = wait.toNanos();
                    while (changes == seen && nanos > 0) {
                        nanos = changed.awaitNanos(nanos);
                    }
                    seen = changes;
                    now = order;
                    if (begun && now.isEmpty()) {
                        break;
                    }
                } finally {
                    lock.unlock();
                }
                wait = now.map(this::step).orElse(LOOK);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        if (!left) {
            release();
        }
    }

    /// Takes the next step.
    ///
    /// @return the delay until the next step, if nothing changes
    private Duration step(Order now) {
        try {
            return now.wanted() ? warm(now) : check(now);
        } catch (DriverException failed) {
            return again(String.valueOf(failed.getMessage()));
        } catch (RuntimeException unforeseen) {
            LOG.atError().addKeyValue("order", name).setCause(unforeseen).log("cannot make a replica");
            return again("unexpected: " + unforeseen);
        }
    }

    private Duration again(String why) {
        trouble = Optional.of(why);
        say(Report.failed(why));
        Duration now = pause;
        pause = Collections.min(List.of(pause.multipliedBy(2), LONGEST_PAUSE));
        return now;
    }

    private Duration check(Order now) {
        release();
        asked = Optional.empty();
        whole = false;
        say(replicas.status(now.volume().digest())
                .map(ReplicaOrderWorker::report)
                .orElseGet(() -> Report.of(State.ABSENT)));
        return LOOK;
    }

    private static Report report(ReplicaStatus status) {
        return switch (status.state()) {
            case ReplicaState.Remote _ -> Report.of(State.ABSENT);
            case ReplicaState.Filling(var percent, var cache) ->
                Report.filling(percent, status.bytes(), cache.toString());
            case ReplicaState.Local(var cache) -> Report.local(status.bytes(), cache.toString());
        };
    }

    private Duration warm(Order now) {
        if (!replicas.areKept()) {
            throw new DriverException.InUse("it has no cache directory; set node.cacheDirectories in the chart");
        }
        turnTo(now.volume());
        Optional<ReplicaStatus> there =
                replicas.status(now.volume().digest()).filter(status -> status.state() instanceof ReplicaState.Local);
        there.map(ReplicaStatus::digest).ifPresent(this::keep);
        if (there.isPresent() && whole) {
            say(report(there.get()));
            return LOOK;
        }
        whole = false;
        Optional<Digest> digest = there.map(ReplicaStatus::digest).or(() -> held(now.volume()));
        if (digest.isEmpty()) {
            Optional<Duration> wait = open(now);
            if (wait.isPresent()) {
                return wait.get();
            }
            digest = held(now.volume());
        }
        keep(digest.orElseThrow());
        fill(digest.orElseThrow(), now);
        return Duration.ZERO;
    }

    /// Adopts the order's volume. It may change without a deletion event, because the watch was broken. So the
    /// pins of the previous volume are released first, even if the new one is refused.
    private void turnTo(VolumeId.DatasetVolume wanted) {
        if (!volume.equals(Optional.of(wanted))) {
            release();
            asked = Optional.empty();
            whole = false;
            volume = Optional.of(wanted);
        }
    }

    private void keep(Digest digest) {
        // keyed by this worker, not by the order's name: if the order is recreated, the old worker may end after
        // the new one has pinned
        replicas.keepFor(digest, this);
        kept = Optional.of(digest);
    }

    private Optional<Digest> held(VolumeId.DatasetVolume volume) {
        return held.filter(image -> image.volume().equals(volume)).map(PinnedImage::digest);
    }

    /// Pins the image, or requests its key.
    ///
    /// @return how long to wait for the answer; empty if the image is pinned
    private Optional<Duration> open(Order now) {
        if (asked.isEmpty()) {
            EncryptedSecret.Reader reader = new EncryptedSecret.Reader(); // discarded with the key
            Question question = new Question(UUID.randomUUID().toString(), reader.publicKey());
            asked = Optional.of(new PendingQuestion(question, reader, System.nanoTime() + ANSWER.toNanos()));
            say(Report.asking(question, trouble));
        }
        PendingQuestion waiting = asked.get();
        Optional<DatasetAccess.Answer> answer = now.access()
                .filter(each -> each.request().equals(waiting.question().request()));
        if (answer.isEmpty()) {
            long left = waiting.end() - System.nanoTime();
            if (left > 0) {
                return Optional.of(Duration.ofNanos(left));
            }
            asked = Optional.empty();
            throw new DriverException.BackendUnavailable("the controller has not given the dataset's key within "
                    + ANSWER.toSeconds() + " s: check siphon-controller");
        }
        asked = Optional.empty();
        switch (answer.get()) {
            case DatasetAccess.Refused refused -> throw refused.why();
            case DatasetAccess.Given given -> hold(now.volume(), given, waiting.reader());
        }
        return Optional.empty();
    }

    private void hold(VolumeId.DatasetVolume volume, DatasetAccess.Given given, EncryptedSecret.Reader reader) {
        if (!given.volume().equals(volume)) {
            throw new DriverException.InUse("another dataset has that name by now");
        }
        CephCredentials credentials = CephCredentials.fromSecrets(
                Map.of("userID", given.userId(), "userKey", reader.decrypt(given.encryptedKey(), given.about())));
        Digest digest = images.pin(volume, this, given.context(), credentials, MOUNT);
        held = Optional.of(new PinnedImage(volume, digest));
    }

    private void fill(Digest digest, Order now) {
        boolean isVerified;
        try {
            isVerified = replicas.warm(digest, FILL, this::follow, () -> !isStill(now));
        } catch (DriverException.InUse outOfReach) {
            // the CephFS client may have ended: mount again, with a new key request
            letImageGo();
            throw outOfReach;
        }
        // otherwise the order has changed, even if it is the same again by now
        if (isVerified) {
            whole = true;
            pause = FIRST_PAUSE;
            trouble = Optional.empty();
            letImageGo();
        }
    }

    private void follow(ReplicaStatus status) {
        Report now = report(status);
        boolean isNews = said.filter(last -> last.state() == now.state() && now.percent() < last.percent() + STEP)
                .isEmpty();
        if (now.state() == State.FILLING && isNews) {
            say(now);
        }
    }

    /// Returns whether the same volume is still wanted; an answer to the key request makes no difference.
    private boolean isStill(Order then) {
        lock.lock();
        try {
            return order.filter(Order::wanted)
                    .filter(now -> now.volume().equals(then.volume()))
                    .isPresent();
        } finally {
            lock.unlock();
        }
    }

    private void release() {
        kept.ifPresent(digest -> replicas.releaseFor(digest, this));
        kept = Optional.empty();
        letImageGo();
    }

    private void letImageGo() {
        held.ifPresent(image -> {
            try {
                images.unpin(image.volume(), this, MOUNT);
            } catch (DriverException later) {
                LOG.atWarn()
                        .addKeyValue("order", name)
                        .addKeyValue("reason", later.getMessage())
                        .log("an unused image stays mounted until a volume is unmounted");
            }
        });
        held = Optional.empty();
    }

    /// Reports each state once; a failed report is repeated with the next step.
    private void say(Report report) {
        if (said.equals(Optional.of(report))) {
            return;
        }
        try {
            orders.report(name, report);
            said = Optional.of(report);
        } catch (DriverException notNow) {
            said = Optional.empty();
            LOG.atInfo()
                    .addKeyValue("order", name)
                    .addKeyValue("reason", notNow.getMessage())
                    .log("will report a replica to the controller later");
        }
    }
}

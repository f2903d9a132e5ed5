package dev.siphon.node.warm;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId.DatasetVolume;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica.Order;
import dev.siphon.csi.dataset.DatasetReplica.Question;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.DatasetReplica.State;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.EncryptedSecret;
import dev.siphon.node.mount.CephCredentials;
import dev.siphon.node.mount.PinnedImages;
import dev.siphon.node.replica.FillStage;
import dev.siphon.node.replica.ReplicaState;
import dev.siphon.node.replica.ReplicaStatus;
import dev.siphon.node.replica.Replicas;
import dev.siphon.node.warm.ObservedOrder.Copy;
import dev.siphon.node.warm.ObservedOrder.Wanted;
import dev.siphon.node.warm.ObservedOrder.Work;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Carries out one order, step by step: observes, asks [OrderDecision] for the next step, and takes it. Requests the
/// dataset's key, fills the replica, and reports the progress. Afterwards it checks periodically that the replica
/// still exists.
final class ReplicaOrderWorker implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ReplicaOrderWorker.class);

    /// The interval between two checks of the replica.
    private static final Duration LOOK = Duration.ofSeconds(10);

    private static final Duration MOUNT = Duration.ofMinutes(2);

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    /// The progress between two reports, in percentage points; after [#LONGEST_PAUSE], any progress is reported.
    private static final int STEP = 5;

    private final String name;
    private final ReplicaOrders orders;
    private final PinnedImages images;
    private final Replicas replicas;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /// Guarded by the lock, as is whether it has changed since the last step.
    private Wanted wanted;

    private boolean isNew;

    /// Whether a turn has changed.
    private boolean isTurned;

    // used only by the thread that runs this
    private Work work = new Work.None();
    private Optional<Report> said = Optional.empty();
    private long saidAt;
    private Optional<String> trouble = Optional.empty();
    private boolean hasFailed;
    private Duration pause = FIRST_PAUSE;

    ReplicaOrderWorker(String name, Order order, ReplicaOrders orders, PinnedImages images, Replicas replicas) {
        this.name = name;
        this.wanted = new Wanted.Ordered(order);
        this.orders = orders;
        this.images = images;
        this.replicas = replicas;
    }

    /// Sets the wanted order.
    void change(Order now) {
        // an update that asks the same reflects this worker's own report, or a turn, of which FillTurns hears
        if (order().filter(now::asksTheSame).isEmpty()) {
            set(new Wanted.Ordered(now));
        }
    }

    /// Withdraws the order.
    void end() {
        set(new Wanted.Withdrawn());
    }

    /// Looks at the replica now, and not only when the next check is due.
    void look() {
        lock.lock();
        try {
            isTurned = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Stops because the process ends; releases nothing.
    void abandon() {
        set(new Wanted.Unattended());
    }

    /// Returns the wanted order; empty if it is withdrawn.
    Optional<Order> order() {
        return wanted() instanceof Wanted.Ordered(var order) ? Optional.of(order) : Optional.empty();
    }

    private Wanted wanted() {
        lock.lock();
        try {
            return wanted;
        } finally {
            lock.unlock();
        }
    }

    private void set(Wanted now) {
        lock.lock();
        try {
            wanted = now;
            isNew = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Returns what is wanted once it changes, once a turn changes, or once `limit` is over. After a failure it does
    /// not return for a turn: the failure itself gives one back.
    private Wanted await(Duration limit) throws InterruptedException {
        lock.lock();
        try {
            for (long nanos = limit.toNanos(); !isNew && !(isTurned && !hasFailed) && nanos > 0; ) {
                nanos = changed.awaitNanos(nanos);
            }
            isNew = false;
            isTurned = false;
            hasFailed = false;
            return wanted;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void run() {
        try {
            Optional<Duration> wait = Optional.of(Duration.ZERO);
            while (wait.isPresent()) {
                wait = step(await(wait.get()));
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /// Takes the next step.
    ///
    /// @return the delay until the one after it, if nothing changes; empty at the end
    private Optional<Duration> step(Wanted now) {
        try {
            OrderStep next = OrderDecision.decide(observe(now));
            return next instanceof OrderStep.End ? Optional.empty() : Optional.of(take(next));
        } catch (DriverException failed) {
            return Optional.of(again(failed));
        } catch (RuntimeException unforeseen) {
            LOG.atError().addKeyValue("order", name).setCause(unforeseen).log("cannot make a replica");
            return Optional.of(again(new DriverException.BackendFault("unexpected: " + unforeseen, unforeseen)));
        }
    }

    private ObservedOrder observe(Wanted now) {
        Copy copy = now instanceof Wanted.Ordered(var order)
                ? replicas.status(order.volume().digest())
                        .map(ReplicaOrderWorker::copy)
                        .orElseGet(() -> new Copy.Incomplete(Report.of(State.ABSENT)))
                : new Copy.Incomplete(Report.of(State.ABSENT));
        return new ObservedOrder(now, replicas.areKept(), copy, work, System.nanoTime());
    }

    private static Copy copy(ReplicaStatus status) {
        return switch (status.state()) {
            case ReplicaState.Local _ -> new Copy.Whole(report(status), status.digest());
            case ReplicaState.Remote _, ReplicaState.Filling _, ReplicaState.Queued _ ->
                new Copy.Incomplete(report(status));
        };
    }

    static Report report(ReplicaStatus status) {
        return switch (status.state()) {
            case ReplicaState.Remote _ -> unfilled(status.fill());
            case ReplicaState.Filling(var percent, var cache) ->
                status.fill() instanceof FillStage.Running
                        ? Report.filling(percent, status.bytes(), cache.toString())
                                .withProgress(status.progressBytes())
                        : unfilled(status.fill()).withPart(percent, status.bytes(), cache.toString());
            case ReplicaState.Queued(var percent, var before) -> Report.queued(percent, before);
            case ReplicaState.Local(var cache) -> Report.local(status.bytes(), cache.toString());
        };
    }

    /// Returns the report while no chunk is copied or checked.
    private static Report unfilled(FillStage stage) {
        return switch (stage) {
            case FillStage.Idle _ -> Report.of(State.ABSENT);
            case FillStage.Due _, FillStage.Queued _, FillStage.Running _ -> Report.of(State.WAITING);
            case FillStage.Failed(var why) -> Report.failed(why);
        };
    }

    private Duration take(OrderStep next) {
        return switch (next) {
            case OrderStep.End _ -> Duration.ZERO;
            case OrderStep.Release _ -> release();
            case OrderStep.Tell(var report) -> say(report);
            case OrderStep.Ask(var volume) -> ask(volume);
            case OrderStep.Wait(var limit) -> limit;
            case OrderStep.Open(var asked, var key) -> open(asked, key);
            case OrderStep.Fill(var volume, var digest) -> fill(volume, digest);
            case OrderStep.Fail(var why) -> {
                work = new Work.None(); // the question was answered, or its time is over
                yield again(why);
            }
        };
    }

    private Duration again(DriverException why) {
        String message = String.valueOf(why.getMessage());
        trouble = Optional.of(message);
        hasFailed = true;
        say(Report.failed(message));
        Duration now = pause;
        pause = Collections.min(List.of(pause.multipliedBy(2), LONGEST_PAUSE));
        return now;
    }

    private Duration ask(DatasetVolume volume) {
        EncryptedSecret.Reader reader = new EncryptedSecret.Reader(); // discarded with the key
        Question question = new Question(UUID.randomUUID().toString(), reader.publicKey());
        work = new Work.Asked(volume, question, reader, System.nanoTime() + OrderDecision.ANSWER.toNanos());
        say(Report.asking(question, trouble));
        return Duration.ZERO;
    }

    private Duration open(Work.Asked asked, DatasetAccess.Given key) {
        work = new Work.None(); // a failed mount needs another key
        CephCredentials credentials = CephCredentials.fromSecrets(
                Map.of("userID", key.userId(), "userKey", asked.reader().decrypt(key.encryptedKey(), key.about())));
        work = new Work.Mounted(asked.volume(), images.pin(asked.volume(), this, key.context(), credentials, MOUNT));
        return Duration.ZERO;
    }

    private Duration fill(DatasetVolume volume, Digest digest) {
        Work.Held held = work instanceof Work.Mounted mounted ? mounted : new Work.Kept(volume, digest);
        work = held;
        // keyed by this worker, not by the order's name: if the order is recreated, the old worker may end after
        // the new one has pinned
        replicas.keepFor(digest, this);
        try {
            // without a deadline: the fill may wait for its turn in the cluster for days
            boolean isWhole =
                    replicas.warm(digest, OptionalLong.empty(), this::follow, () -> !wanted().isReplicaOf(volume));
            if (isWhole) {
                unmount();
                pause = FIRST_PAUSE;
                trouble = Optional.empty();
            }
            work = held.filled(isWhole);
            return Duration.ZERO;
        } catch (DriverException.InUse outOfReach) {
            // the CephFS client may have ended: mount again, with a new key request
            unmount();
            work = new Work.Kept(volume, digest);
            throw outOfReach;
        }
    }

    private void follow(ReplicaStatus status) {
        Report now = report(status);
        if (now.state() == State.QUEUED || now.state() == State.FILLING) {
            say(now);
        }
    }

    private Duration release() {
        unmount();
        if (work instanceof Work.Held held) {
            replicas.releaseFor(held.digest(), this);
        }
        work = new Work.None();
        return Duration.ZERO;
    }

    private void unmount() {
        if (work instanceof Work.Mounted(var volume, var _)) {
            try {
                images.unpin(volume, this, MOUNT);
            } catch (DriverException later) {
                LOG.atWarn()
                        .addKeyValue("order", name)
                        .addKeyValue("reason", later.getMessage())
                        .log("an unused image stays mounted until a volume is unmounted");
            }
        }
    }

    /// Whether a report differs from the last one as much as it must while the replica is filled.
    private boolean isNews(Report last, Report now) {
        boolean isSlow = last.state() == State.FILLING
                && now.state() == State.FILLING
                && now.percent() < last.percent() + STEP
                && System.nanoTime() - saidAt <= LONGEST_PAUSE.toNanos();
        return !isSlow && !last.equals(now);
    }

    /// Reports each state once; a failed report is repeated with the next step.
    private Duration say(Report report) {
        if (said.filter(last -> !isNews(last, report)).isPresent()) {
            return LOOK;
        }
        try {
            orders.report(name, report);
            said = Optional.of(report);
            saidAt = System.nanoTime();
        } catch (DriverException notNow) {
            said = Optional.empty();
            LOG.atInfo()
                    .addKeyValue("order", name)
                    .addKeyValue("reason", notNow.getMessage())
                    .log("will report a replica to the controller later");
        }
        return LOOK;
    }
}

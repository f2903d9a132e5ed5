package dev.siphon.node.replica;

import dev.siphon.csi.dataset.DatasetReplica.Turn;
import dev.siphon.csi.dataset.Digest;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The turns to fill that the controller gives this node, if the cluster has a limit. They are kept in the objects of
/// Kubernetes; after a restart the same are told again.
///
/// Readers never depend on the controller: if it says nothing about a fill for [#SILENCE], the node fills.
public final class FillTurns {
    /// The controller confirms each wait every minute.
    static final Duration SILENCE = Duration.ofMinutes(2);

    private static final Logger LOG = LoggerFactory.getLogger(FillTurns.class);
    private static final long CHECK_MILLIS = 200;

    private final boolean isLimited;
    private final LongSupplier nanoTime;

    /// What the controller says, by the beginning of the dataset's digest.
    private final Map<String, Told> told = new HashMap<>();

    /// When the fills began to wait, by their digests.
    private final Map<Digest, Long> waits = new HashMap<>();

    private final Set<Digest> running = new HashSet<>();
    private boolean isSilent;
    private Runnable changed = () -> {};

    /// @param when the controller said so first
    private record Told(Optional<Turn> turn, long when) {}

    /// @param isLimited whether fills need a turn
    /// @param nanoTime [System#nanoTime]
    public FillTurns(boolean isLimited, LongSupplier nanoTime) {
        this.isLimited = isLimited;
        this.nanoTime = nanoTime;
    }

    /// Sets what is called when a fill begins to wait, begins or ends; it must not block.
    public synchronized void onChange(Runnable listener) {
        changed = listener;
    }

    /// Records what the controller says about a dataset.
    ///
    /// @param beginning the beginning of its digest, as in volume ids
    /// @param turn empty if it is in no queue
    public synchronized void told(String beginning, Optional<Turn> turn) {
        boolean isSame = turn.equals(
                Optional.ofNullable(told.get(beginning)).map(Told::turn).orElse(Optional.empty()));
        if (isSame) {
            return;
        }
        told.put(beginning, new Told(turn, nanoTime.getAsLong()));
        isSilent = false;
        notifyAll();
    }

    /// Waits until this node may fill the dataset. Then the caller must call [#end], as after a wait that was stopped.
    ///
    /// @param stop whether to give up; asked five times a second
    /// @param queue told how many fills come before this one, and empty once it is the dataset's turn
    /// @return whether it may be filled
    boolean await(Digest dataset, BooleanSupplier stop, Consumer<OptionalInt> queue) {
        if (!isLimited) {
            return true;
        }
        OptionalInt last = OptionalInt.empty();
        try {
            while (!stop.getAsBoolean()) {
                OptionalInt before = waitOnce(dataset);
                if (before.isEmpty()) {
                    return true;
                }
                if (!before.equals(last)) {
                    queue.accept(before);
                    last = before;
                    listener().run();
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } finally {
            if (last.isPresent()) {
                queue.accept(OptionalInt.empty());
                listener().run();
            }
        }
        return false;
    }

    /// @return how many fills come before; empty if the dataset may be filled
    private synchronized OptionalInt waitOnce(Digest dataset) throws InterruptedException {
        if (waits.putIfAbsent(dataset, nanoTime.getAsLong()) != null) {
            TimeUnit.MILLISECONDS.timedWait(this, CHECK_MILLIS);
        }
        if (mayFill(dataset)) {
            running.add(dataset);
            return OptionalInt.empty();
        }
        return OptionalInt.of(turn(dataset).map(Turn::before).orElse(0));
    }

    private Optional<Turn> turn(Digest dataset) {
        return Optional.ofNullable(told.get(dataset.beginning())).flatMap(Told::turn);
    }

    private boolean mayFill(Digest dataset) {
        Optional<Turn> turn = turn(dataset);
        if (turn.isPresent() && turn.get().isGiven()) {
            return true;
        }
        long now = nanoTime.getAsLong();
        long begun = Optional.ofNullable(waits.get(dataset)).orElse(now);
        long heard = Optional.ofNullable(told.get(dataset.beginning()))
                .map(Told::when)
                .filter(when -> when - begun > 0)
                .orElse(begun);
        boolean isAlone = now - heard > SILENCE.toNanos();
        if (isAlone && !isSilent) {
            LOG.atWarn()
                    .addKeyValue("dataset", dataset)
                    .log(
                            "the controller has handed out no turn to fill, and confirmed no wait, for {} s: datasets are"
                                    + " filled at this node's own limits; check siphon-controller, and its --fills-in-cluster",
                            SILENCE.toSeconds());
            isSilent = true;
        }
        return isAlone;
    }

    /// Returns whether a fill that was begun must stop, because the controller gave the turn to another node.
    synchronized boolean isLost(Digest dataset) {
        return isLimited && !mayFill(dataset);
    }

    /// Ends a fill, or a wait for it.
    void end(Digest dataset) {
        boolean isOver;
        synchronized (this) {
            waits.remove(dataset);
            isOver = running.remove(dataset);
        }
        if (isOver) {
            listener().run();
        }
    }

    private synchronized Runnable listener() {
        return changed;
    }
}

package dev.siphon.node.replica;

import dev.siphon.csi.dataset.DatasetReplica.Turn;
import dev.siphon.csi.dataset.Digest;
import java.time.Duration;
import java.time.Instant;
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
import java.util.stream.Stream;
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

    /// What the controller says, by the order's name: datasets of the same content have several.
    private final Map<String, Told> told = new HashMap<>();

    /// When the fills began to wait, by their digests.
    private final Map<Digest, Long> waits = new HashMap<>();

    private final Set<Digest> running = new HashSet<>();
    private boolean isSilent;
    private Runnable changed = () -> {};

    /// @param beginning the beginning of the dataset's digest
    /// @param when the controller said so first
    /// @param isSpent whether a fill has failed in this turn: it needs another one
    private record Told(String beginning, Optional<Turn> turn, long when, boolean isSpent) {
        boolean isAbout(Digest dataset) {
            return dataset.beginning().equals(beginning);
        }

        boolean mayFill() {
            return !isSpent && turn.filter(Turn::isGiven).isPresent();
        }

        private Optional<Instant> since() {
            return turn.map(Turn::since);
        }
    }

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

    /// Records what the controller says in an order.
    ///
    /// @param order the name of its object
    /// @param beginning the beginning of the dataset's digest, as in volume ids
    /// @param turn empty if it is in no queue
    public synchronized void told(String order, String beginning, Optional<Turn> turn) {
        if (last(order).filter(each -> !each.beginning().equals(beginning)).isPresent()) {
            withdrawn(order);
        }
        Optional<Told> last = last(order);
        if (turn.equals(last.flatMap(Told::turn))) {
            return;
        }
        boolean isSpent = last.filter(each -> each.isSpent() && each.since().equals(turn.map(Turn::since)))
                .isPresent();
        told.put(order, new Told(beginning, turn, nanoTime.getAsLong(), isSpent));
        isSilent = false;
        notifyAll();
    }

    private Optional<Told> last(String order) {
        return Optional.ofNullable(told.get(order));
    }

    /// Records that an order is deleted. A fill that had its turn by this order alone stops, and waits anew.
    public synchronized void withdrawn(String order) {
        Optional.ofNullable(told.remove(order)).ifPresent(gone -> {
            long now = nanoTime.getAsLong();
            waits.replaceAll((dataset, begun) -> gone.isAbout(dataset) ? now : begun);
            notifyAll();
        });
    }

    /// Waits until this node may fill the dataset. Then the caller must call [#end], as after a wait that was stopped.
    ///
    /// @param stop whether to give up; asked five times a second
    /// @param queue told how many fills come before this one, and [FillStage.Idle] once the wait is over
    /// @return whether it may be filled
    boolean await(Digest dataset, BooleanSupplier stop, Consumer<FillStage> queue) {
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
                    queue.accept(new FillStage.Queued(before.getAsInt()));
                    last = before;
                    listener().run();
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } finally {
            if (last.isPresent()) {
                queue.accept(new FillStage.Idle());
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
        return OptionalInt.of(about(dataset)
                .flatMap(each -> each.turn().stream())
                .mapToInt(Turn::before)
                .min()
                .orElse(0));
    }

    private Stream<Told> about(Digest dataset) {
        return told.values().stream().filter(each -> each.isAbout(dataset));
    }

    private boolean mayFill(Digest dataset) {
        if (about(dataset).anyMatch(Told::mayFill)) {
            return true;
        }
        long now = nanoTime.getAsLong();
        long waited = Optional.ofNullable(waits.get(dataset))
                .map(begun -> now - begun)
                .orElse(0L);
        long silence = about(dataset).mapToLong(each -> now - each.when()).reduce(waited, Math::min);
        boolean isAlone = silence > SILENCE.toNanos();
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

    /// Records that a fill has failed, which ends its turn: the others come first.
    synchronized void failed(Digest dataset) {
        told.replaceAll(
                (_, each) -> each.isAbout(dataset) ? new Told(each.beginning(), each.turn(), each.when(), true) : each);
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

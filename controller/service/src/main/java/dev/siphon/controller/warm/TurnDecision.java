package dev.siphon.controller.warm;

import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.csi.dataset.DatasetReplica.State;
import dev.siphon.csi.dataset.DatasetReplica.Turn;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Decides which nodes may fill now, if the cluster has a limit. Touches nothing, and knows nothing but the objects:
/// the next leader goes on with the same queue.
///
/// A node waits by reporting [State#QUEUED]. The oldest wait comes first; one that pods wait for counts as
/// [#HEAD_START] older, so that it overtakes the others, and yet each comes first at last. A node has at most one turn:
/// whoever stole its key takes no more.
final class TurnDecision {
    /// How long before its node a fill is queued, as it were, if pods wait for it.
    static final Duration HEAD_START = Duration.ofHours(1);

    /// How often a wait is confirmed, and progress noted. A node believes that the controller is away after twice
    /// this.
    static final Duration RENEWAL = Duration.ofMinutes(1);

    /// How long a node may take to begin.
    static final Duration START = Duration.ofMinutes(2);

    /// How long a fill may make no progress of a percent.
    static final Duration STALL = Duration.ofMinutes(15);

    private TurnDecision() {}

    /// What is known when it is decided.
    ///
    /// @param limit of fills at once; 0 for none
    /// @param awaited the fills that pods wait for
    record ObservedTurns(Instant now, int limit, List<OrderedReplica> replicas, Set<DatasetOnNode> awaited) {
        ObservedTurns {
            replicas = List.copyOf(replicas);
            awaited = Set.copyOf(awaited);
        }
    }

    /// A turn to write; empty to take it away.
    record Change(OrderedReplica replica, Optional<Turn> turn) {}

    /// Returns the turns that differ from those that are written.
    static List<Change> decide(ObservedTurns is) {
        Map<OrderedReplica, Turn> turns = is.limit() == 0 ? Map.of() : turns(is);
        return is.replicas().stream()
                .map(replica -> new Change(replica, Optional.ofNullable(turns.get(replica))))
                .filter(change -> !change.turn().equals(change.replica().order().turn()))
                .toList();
    }

    private static Map<OrderedReplica, Turn> turns(ObservedTurns is) {
        Map<OrderedReplica, Turn> turns = new HashMap<>();
        Set<String> busy = new HashSet<>();
        List<OrderedReplica> waiting = new ArrayList<>();
        List<OrderedReplica> oldestFirst = is.replicas().stream()
                .sorted(Comparator.comparing((OrderedReplica replica) -> begin(is, replica))
                        .thenComparing(OrderedReplica::name))
                .toList();
        for (OrderedReplica replica : oldestFirst) {
            Optional<Turn> kept = held(is.now(), replica);
            if (kept.isPresent() && busy.add(replica.order().node())) {
                turns.put(replica, kept.get());
            } else if (isWaiting(replica)) {
                waiting.add(replica);
            }
        }
        // a fill that began without a turn, while the controller was away, goes on before another begins
        waiting.sort(Comparator.comparing((OrderedReplica replica) -> !isAdopted(is.now(), replica)));
        int place = 0;
        for (OrderedReplica replica : waiting) {
            boolean isReady = replica.state() == State.QUEUED || isAdopted(is.now(), replica);
            if (isReady && busy.size() < is.limit() && busy.add(replica.order().node())) {
                turns.put(replica, new Turn(true, 0, replica.percent(), is.now(), is.now()));
            } else {
                turns.put(replica, queued(is.now(), replica, place++));
            }
        }
        return turns;
    }

    /// Returns since when a fill waits, as far as the order of the queue goes.
    private static Instant begin(ObservedTurns is, OrderedReplica replica) {
        Instant since = replica.order()
                .turn()
                .filter(turn -> !isLost(is.now(), replica))
                .map(Turn::since)
                .orElse(is.now());
        return is.awaited().contains(replica.place()) ? since.minus(HEAD_START) : since;
    }

    private static boolean isGiven(OrderedReplica replica) {
        return replica.order().turn().filter(Turn::isGiven).isPresent();
    }

    /// Whether a fill runs without a turn: one that nobody confirmed for so long that its node began by itself.
    private static boolean isAdopted(Instant now, OrderedReplica replica) {
        return replica.state() == State.FILLING
                && replica.order()
                        .turn()
                        .filter(turn ->
                                turn.isGiven() || turn.renewed().plus(START).isAfter(now))
                        .isEmpty();
    }

    private static boolean isWaiting(OrderedReplica replica) {
        return replica.state() == State.QUEUED || replica.state() == State.FILLING;
    }

    private static boolean isLost(Instant now, OrderedReplica replica) {
        return isGiven(replica) && held(now, replica).isEmpty();
    }

    /// Returns the turn that a node goes on to have, perhaps with its progress noted; empty if it has none, or loses
    /// it.
    private static Optional<Turn> held(Instant now, OrderedReplica replica) {
        return replica.order().turn().filter(Turn::isGiven).flatMap(turn -> {
            boolean isFurther = replica.state() == State.FILLING && replica.percent() > turn.percent();
            boolean isHeld = switch (replica.state()) {
                // one that waits for a key again was started again
                case FILLING, WAITING -> isFurther || turn.renewed().plus(STALL).isAfter(now);
                case ABSENT, QUEUED -> turn.renewed().plus(START).isAfter(now);
                case LOCAL, FAILED -> false;
            };
            Turn noted = isFurther && isDue(now, turn) ? new Turn(true, 0, replica.percent(), turn.since(), now) : turn;
            return Optional.of(noted).filter(_ -> isHeld);
        });
    }

    /// Returns a place in the queue, written anew only when it is due: each of many would change with each turn.
    private static Turn queued(Instant now, OrderedReplica replica, int before) {
        Optional<Turn> waits = replica.order().turn().filter(turn -> !turn.isGiven());
        return waits.filter(turn -> !isDue(now, turn))
                .orElseGet(() -> new Turn(
                        false, before, replica.percent(), waits.map(Turn::since).orElse(now), now));
    }

    /// Returns whether the turn must be confirmed: also if another leader's clock was ahead.
    private static boolean isDue(Instant now, Turn turn) {
        return Duration.between(turn.renewed(), now).abs().compareTo(RENEWAL) >= 0;
    }
}

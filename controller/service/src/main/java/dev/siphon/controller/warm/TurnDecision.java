package dev.siphon.controller.warm;

import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.controller.warm.OrderedReplica.NodeFill;
import dev.siphon.csi.dataset.DatasetReplica.State;
import dev.siphon.csi.dataset.DatasetReplica.Turn;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// Decides which nodes may fill now, if the cluster has a limit. Touches nothing, and knows nothing but the objects:
/// the next leader goes on with the same queue.
///
/// A node waits by reporting [State#QUEUED]. The oldest wait comes first; one that pods wait for counts as
/// [#HEAD_START] older, so that it overtakes the others, and yet each comes first at last. A node has at most one
/// turn, and a long one costs its other waits their places ([#AGING]): whoever stole its key takes no more. Several
/// names of one content are one fill ([NodeFill]).
final class TurnDecision {
    /// How long before its node a fill is queued, as it were, if pods wait for it.
    static final Duration HEAD_START = Duration.ofHours(1);

    /// How often a wait is confirmed, and progress noted. A node believes that the controller is away after twice
    /// this.
    static final Duration RENEWAL = Duration.ofMinutes(1);

    /// How long a node may take to begin.
    static final Duration START = Duration.ofMinutes(2);

    /// How long a node that restarts keeps its turn, or its place in the queue, until it fills or asks again.
    static final Duration RESTART = Duration.ofMinutes(5);

    /// How long a fill may make no progress.
    static final Duration STALL = Duration.ofMinutes(15);

    /// For how much of a turn its node's other waits grow older. For the rest of it they do not, however it ends:
    /// otherwise a stolen node with 20 orders would have 20 long turns, one after the other.
    static final Duration AGING = Duration.ofMinutes(15);

    /// The longest turn. It ends what a stolen node, which may report any progress, takes from the others. An honest
    /// node that needs longer waits once more, and goes on where it was.
    static final Duration LONGEST = Duration.ofDays(1);

    private final Instant now;
    private final int limit;
    private final List<OrderedReplica> replicas;
    private final boolean wasAway;

    /// The fills that pods wait for.
    private final Set<NodeFill> awaited;

    /// The fills whose turn ends now. They wait behind the others, whichever of their names had it.
    private final Set<NodeFill> lost;

    private TurnDecision(ObservedTurns is) {
        this.now = is.now();
        this.limit = is.limit();
        this.replicas = is.replicas();
        this.wasAway = is.wasAway();
        this.awaited = replicas.stream()
                .filter(replica -> is.awaited().contains(replica.place()))
                .map(OrderedReplica::fill)
                .collect(Collectors.toSet());
        this.lost = replicas.stream()
                .filter(replica -> isGiven(replica) && held(replica).isEmpty())
                .map(OrderedReplica::fill)
                .collect(Collectors.toSet());
    }

    /// What is known when it is decided.
    ///
    /// @param limit of fills at once; 0 for none
    /// @param awaited the fills that pods wait for
    /// @param wasAway whether no controller has confirmed the waits before, as far as this one knows
    record ObservedTurns(
            Instant now, int limit, List<OrderedReplica> replicas, Set<DatasetOnNode> awaited, boolean wasAway) {
        ObservedTurns {
            replicas = List.copyOf(replicas);
            awaited = Set.copyOf(awaited);
        }
    }

    /// A turn to write; empty to take it away.
    record Change(OrderedReplica replica, Optional<Turn> turn) {
        /// Returns whether the node may fill with this turn.
        boolean isGiven() {
            return turn.filter(Turn::isGiven).isPresent();
        }
    }

    /// An order with its age in the queue.
    private record Aged(OrderedReplica replica, Instant begin) {
        static final Comparator<Aged> OLDEST_FIRST = Comparator.comparing(Aged::begin)
                .thenComparing(each -> each.replica().name());
    }

    /// Returns the turns that differ from those that are written.
    static List<Change> decide(ObservedTurns is) {
        Map<String, Turn> turns = is.limit() == 0 ? Map.of() : new TurnDecision(is).turns();
        return is.replicas().stream()
                .map(replica -> new Change(replica, Optional.ofNullable(turns.get(replica.name()))))
                .filter(change -> !change.turn().equals(change.replica().order().turn()))
                .toList();
    }

    /// @return by object name
    private Map<String, Turn> turns() {
        Map<String, Turn> turns = new HashMap<>();
        Map<String, Instant> busy = new HashMap<>(); // since when, by node
        Map<NodeFill, Integer> places = new HashMap<>();
        List<OrderedReplica> waiting = new ArrayList<>();
        List<Aged> oldestFirst = replicas.stream()
                .map(replica -> new Aged(replica, begin(replica)))
                .sorted(Aged.OLDEST_FIRST)
                .toList();
        for (Aged each : oldestFirst) {
            OrderedReplica replica = each.replica();
            Optional<Turn> kept = held(replica);
            if (kept.isPresent()
                    && busy.putIfAbsent(replica.order().node(), kept.get().since()) == null) {
                turns.put(replica.name(), kept.get());
                places.put(replica.fill(), 0);
            } else if (isWaiting(replica)) {
                waiting.add(replica);
            } else {
                resting(replica).ifPresent(place -> turns.put(replica.name(), place));
            }
        }
        // a fill that began without a turn, while the controller was away, goes on before another begins
        waiting.sort(Comparator.comparing(replica -> !isAdopted(replica)));
        int next = 0;
        for (OrderedReplica replica : waiting) {
            boolean isReady = replica.state() == State.QUEUED || isAdopted(replica);
            if (isReady
                    && busy.size() < limit
                    && busy.putIfAbsent(replica.order().node(), now) == null) {
                turns.put(replica.name(), new Turn(true, 0, replica.progressBytes(), now, now));
                places.put(replica.fill(), 0);
            } else {
                next += places.putIfAbsent(replica.fill(), next) == null ? 1 : 0;
                boolean isAging = Optional.ofNullable(busy.get(replica.order().node()))
                        .filter(given -> !given.plus(AGING).isAfter(now))
                        .isEmpty();
                turns.put(replica.name(), queued(replica, places.getOrDefault(replica.fill(), next), isAging));
            }
        }
        return turns;
    }

    /// Returns since when a fill waits, as far as the order of the queue goes.
    private Instant begin(OrderedReplica replica) {
        Instant since = replica.order()
                .turn()
                .filter(_ -> !lost.contains(replica.fill()))
                .map(Turn::since)
                .orElse(now);
        return awaited.contains(replica.fill()) ? since.minus(HEAD_START) : since;
    }

    private static boolean isGiven(OrderedReplica replica) {
        return replica.order().turn().filter(Turn::isGiven).isPresent();
    }

    /// Whether a fill runs without a turn: one that nobody confirmed for so long that its node began by itself. A
    /// node that begins while the controller is there comes before nobody.
    private boolean isAdopted(OrderedReplica replica) {
        return wasAway
                && replica.state() == State.FILLING
                && replica.order()
                        .turn()
                        .filter(turn ->
                                turn.isGiven() || turn.renewed().plus(START).isAfter(now))
                        .isEmpty();
    }

    private static boolean isWaiting(OrderedReplica replica) {
        return replica.state() == State.QUEUED || replica.state() == State.FILLING;
    }

    /// Returns the place in the queue of a node that has restarted, and does not ask again yet.
    private Optional<Turn> resting(OrderedReplica replica) {
        boolean mayAsk = replica.state() == State.ABSENT || replica.state() == State.WAITING;
        return replica.order()
                .turn()
                .filter(turn -> mayAsk
                        && !turn.isGiven()
                        && turn.renewed().plus(RESTART).isAfter(now));
    }

    /// Returns the turn that a node goes on to have, perhaps with its progress noted; empty if it has none, or loses
    /// it.
    private Optional<Turn> held(OrderedReplica replica) {
        return replica.order().turn().filter(Turn::isGiven).flatMap(turn -> {
            boolean isFurther = replica.state() == State.FILLING && replica.progressBytes() != turn.progressBytes();
            boolean isHeld = switch (replica.state()) {
                case FILLING -> isFurther || turn.renewed().plus(STALL).isAfter(now);
                // it asks for a key again
                case WAITING -> turn.renewed().plus(RESTART).isAfter(now);
                case ABSENT, QUEUED -> turn.renewed().plus(START).isAfter(now);
                case LOCAL, FAILED -> false;
            };
            boolean isOver = !turn.since().plus(LONGEST).isAfter(now);
            Turn noted =
                    isFurther && isDue(turn) ? new Turn(true, 0, replica.progressBytes(), turn.since(), now) : turn;
            return Optional.of(noted).filter(_ -> isHeld && !isOver);
        });
    }

    /// Returns a place in the queue, written anew only when it is due: each of many would change with each turn.
    ///
    /// @param isAging whether the wait has grown older since it was confirmed
    private Turn queued(OrderedReplica replica, int before, boolean isAging) {
        Optional<Turn> waits = replica.order().turn().filter(turn -> !turn.isGiven() && !lost.contains(replica.fill()));
        return waits.filter(turn -> !isDue(turn))
                .orElseGet(() -> new Turn(
                        false,
                        before,
                        0,
                        waits.map(turn -> turn.since().plus(isAging ? Duration.ZERO : passed(turn)))
                                .orElse(now),
                        now));
    }

    /// Returns how long ago the turn was confirmed; zero if another leader's clock was ahead.
    private Duration passed(Turn turn) {
        return Collections.max(List.of(Duration.ZERO, Duration.between(turn.renewed(), now)));
    }

    /// Returns whether the turn must be confirmed: also if another leader's clock was ahead.
    private boolean isDue(Turn turn) {
        return Duration.between(turn.renewed(), now).abs().compareTo(RENEWAL) >= 0;
    }
}

package dev.siphon.controller.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.controller.warm.TurnDecision.Change;
import dev.siphon.controller.warm.TurnDecision.ObservedTurns;
import dev.siphon.csi.dataset.DatasetReplica.Order;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.DatasetReplica.State;
import dev.siphon.csi.dataset.DatasetReplica.Turn;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Tries every situation of two fills on one node or on two, and then what comes of a queue over time.
final class TurnDecisionTest {
    private static final Instant NOW = WarmWorld.NOW;
    private static final List<Duration> AGES = List.of(
            Duration.ofMinutes(-5),
            Duration.ofSeconds(1),
            TurnDecision.RENEWAL,
            TurnDecision.START,
            TurnDecision.STALL.minusSeconds(1),
            TurnDecision.STALL);

    /// One fill.
    ///
    /// @param percent 50, as in the turns, or more
    private record Fill(State state, int percent, Optional<Turn> turn, boolean isAwaited) {
        OrderedReplica on(String dataset, String node) {
            Report report = new Report(state, percent, 0, Optional.empty(), Optional.empty(), Optional.empty());
            return new OrderedReplica(
                    dataset + "." + node,
                    NOW,
                    new Order(dataset, node, WarmWorld.volume(dataset), false, Optional.empty(), turn),
                    Optional.of(report));
        }

        boolean isGiven() {
            return turn.filter(Turn::isGiven).isPresent();
        }
    }

    private static Stream<Fill> fills() {
        return Arrays.stream(State.values())
                .flatMap(state -> IntStream.of(50, 51)
                        .boxed()
                        .flatMap(percent -> turns().flatMap(turn ->
                                Stream.of(false, true).map(isAwaited -> new Fill(state, percent, turn, isAwaited)))));
    }

    private static Stream<Optional<Turn>> turns() {
        return Stream.concat(
                Stream.of(Optional.empty()),
                AGES.stream()
                        .flatMap(age -> Stream.of(true, false).map(isGiven -> {
                            Instant then = NOW.minus(age);
                            return Optional.of(new Turn(isGiven, 0, 50, then, then));
                        })));
    }

    private static ObservedTurns observed(int limit, Map<OrderedReplica, Boolean> fills) {
        Set<DatasetOnNode> awaited = fills.entrySet().stream()
                .filter(Map.Entry::getValue)
                .map(each -> each.getKey().place())
                .collect(Collectors.toSet());
        return new ObservedTurns(NOW, limit, List.copyOf(fills.keySet()), awaited);
    }

    private static List<OrderedReplica> after(ObservedTurns is) {
        Map<OrderedReplica, Optional<Turn>> changes =
                TurnDecision.decide(is).stream().collect(Collectors.toMap(Change::replica, Change::turn));
        return is.replicas().stream()
                .map(replica -> Optional.ofNullable(changes.get(replica))
                        .map(replica::with)
                        .orElse(replica))
                .toList();
    }

    private static Optional<Turn> turn(OrderedReplica replica) {
        return replica.order().turn();
    }

    private static boolean isGiven(OrderedReplica replica) {
        return turn(replica).filter(Turn::isGiven).isPresent();
    }

    /// What must hold of a fill alone, in words of the documentation, and written without the code's own.
    private static boolean keeps(Fill fill) {
        Duration age =
                fill.turn().map(turn -> Duration.between(turn.renewed(), NOW)).orElse(Duration.ZERO);
        return fill.isGiven()
                && switch (fill.state()) {
                    case FILLING -> fill.percent() > 50 || age.toMinutes() < 15;
                    case WAITING -> age.toMinutes() < 15;
                    case ABSENT, QUEUED -> age.toMinutes() < 2;
                    case LOCAL, FAILED -> false;
                };
    }

    @Test
    void everyPairOfFillsStaysWithinTheLimit() {
        List<Fill> fills = fills().toList();
        int situations = 0;
        for (Fill one : fills) {
            for (Fill other : fills) {
                for (String node : List.of("a", "b")) {
                    for (int limit = 0; limit <= 2; limit++) {
                        check(one, other, node, limit);
                        situations++;
                    }
                }
            }
        }
        assertEquals(6 * fills.size() * fills.size(), situations);
        assertEquals(6 * 2 * 13 * 2, fills.size());
    }

    private static void check(Fill one, Fill other, String node, int limit) {
        OrderedReplica first = one.on("u1.x", "a");
        OrderedReplica second = other.on("u1.y", node);
        ObservedTurns is = observed(limit, Map.of(first, one.isAwaited(), second, other.isAwaited()));
        List<OrderedReplica> after = after(is);
        OrderedReplica x = after.stream()
                .filter(each -> each.name().equals(first.name()))
                .findFirst()
                .orElseThrow();
        OrderedReplica y = after.stream()
                .filter(each -> each.name().equals(second.name()))
                .findFirst()
                .orElseThrow();
        String what = limit + " " + one + " " + other + " on " + node + " -> " + turn(x) + " " + turn(y);
        boolean isOneNode = node.equals("a");
        if (limit == 0) {
            assertTrue(turn(x).isEmpty() && turn(y).isEmpty(), what);
            return;
        }
        long given = Stream.of(x, y).filter(TurnDecisionTest::isGiven).count();
        long kept = Stream.of(one, other).filter(TurnDecisionTest::keeps).count();
        assertTrue(given <= Math.max(limit, kept), "within the limit, except turns of a higher one: " + what);
        assertTrue(!isOneNode || given <= 1, "a node has one turn: " + what);
        assertTrue(isOneNode || !keeps(one) || isGiven(x), "a turn that is used is kept: " + what);
        for (OrderedReplica each : List.of(x, y)) {
            boolean isWish = each.state() == State.QUEUED || each.state() == State.FILLING;
            assertTrue(!isWish || turn(each).isPresent(), "a wish has a place: " + what);
            assertTrue(isWish || turn(each).isEmpty() || isGiven(each), "no wish, no place: " + what);
        }
        assertTrue(keeps(one) || !isGiven(x) || isReady(one), "only a node that asks gets a turn: " + what);
        boolean isIdle = given < limit && !(isOneNode && given == 1);
        assertTrue(!isIdle || !(isReady(one) && !isGiven(x)), "no turn is left while a node asks: " + what);
        assertTrue(
                !turn(x).filter(turn -> !turn.isGiven()).isPresent()
                        || turn(x).get().before() <= 1,
                what);
        assertEquals(Set.of(), unsettled(is, after), "a decision that is written is not made again: " + what);
    }

    /// A node that heard nothing for so long fills without a turn.
    private static boolean isReady(Fill fill) {
        boolean isAlone = fill.turn()
                .filter(turn -> turn.isGiven()
                        || turn.renewed().plus(TurnDecision.START).isAfter(NOW))
                .isEmpty();
        return fill.state() == State.QUEUED || (fill.state() == State.FILLING && isAlone);
    }

    private static Set<Change> unsettled(ObservedTurns is, List<OrderedReplica> after) {
        return new HashSet<>(TurnDecision.decide(new ObservedTurns(is.now(), is.limit(), after, is.awaited())));
    }

    private static OrderedReplica queued(String node, Duration age) {
        Instant since = NOW.minus(age);
        return new Fill(State.QUEUED, 0, Optional.of(new Turn(false, 0, 0, since, NOW)), false).on("u1.x", node);
    }

    private static List<String> given(ObservedTurns is) {
        return after(is).stream()
                .filter(TurnDecisionTest::isGiven)
                .map(replica -> replica.order().node())
                .sorted()
                .toList();
    }

    @Test
    void theOldestComesFirstAndAFillThatPodsWaitForAnHourEarlier() {
        OrderedReplica old = queued("a", Duration.ofMinutes(59));
        OrderedReplica starved = queued("b", Duration.ofMinutes(61));
        OrderedReplica fresh = queued("c", Duration.ZERO);
        assertEquals(List.of("a"), given(observed(1, Map.of(old, false, fresh, false))));
        assertEquals(List.of("c"), given(observed(1, Map.of(old, false, fresh, true))));
        assertEquals(List.of("b"), given(observed(1, Map.of(starved, false, old, false, fresh, true))));
        assertEquals(List.of("b", "c"), given(observed(2, Map.of(starved, false, old, false, fresh, true))));
    }

    @Test
    void aWaitKnowsHowManyComeBeforeIt() {
        List<OrderedReplica> all = IntStream.range(0, 4)
                .mapToObj(at -> new Fill(State.QUEUED, 0, Optional.empty(), false).on("u1.x", "node-" + at))
                .toList();
        List<OrderedReplica> after = after(new ObservedTurns(NOW, 1, all, Set.of()));
        assertEquals(
                List.of(
                        "node-1 waits for its turn: 0 before it",
                        "node-2 waits for its turn: 1 before it",
                        "node-3 waits for its turn: 2 before it"),
                after.stream().skip(1).map(OrderedReplica::describe).toList());
        assertTrue(isGiven(after.getFirst()));
    }

    /// One node that says it fills, and makes no progress, is overtaken by all; then it is only in nobody's way.
    @Test
    void everyoneIsServedAlthoughANodeIsDead() {
        OrderedReplica dead =
                new Fill(State.FILLING, 10, Optional.of(new Turn(true, 0, 10, NOW, NOW)), true).on("u1.x", "dead");
        List<OrderedReplica> world = new ArrayList<>(List.of(dead));
        IntStream.range(0, 5).forEach(at -> world.add(queued("node-" + at, Duration.ZERO)));
        Instant now = NOW;
        Set<String> served = new HashSet<>();
        for (int minute = 0; minute < 40; minute++) {
            now = now.plus(Duration.ofMinutes(1));
            List<OrderedReplica> next = after(new ObservedTurns(now, 1, world, Set.of(dead.place())));
            assertTrue(next.stream().filter(TurnDecisionTest::isGiven).count() <= 1, next.toString());
            world.clear();
            for (OrderedReplica each : next) {
                boolean isDone = isGiven(each) && !each.order().node().equals("dead");
                if (isDone) {
                    served.add(each.order().node());
                }
                world.add(
                        isDone
                                ? new Fill(State.LOCAL, 100, turn(each), false)
                                        .on("u1.x", each.order().node())
                                : each);
            }
        }
        assertEquals(5, served.size());
        assertEquals(1, world.stream().filter(each -> turn(each).isPresent()).count(), world.toString());
    }
}

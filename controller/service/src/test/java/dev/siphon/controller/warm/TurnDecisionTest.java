package dev.siphon.controller.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.controller.warm.TurnDecision.Change;
import dev.siphon.controller.warm.TurnDecision.ObservedTurns;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetReplica.Order;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.DatasetReplica.State;
import dev.siphon.csi.dataset.DatasetReplica.Turn;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Tries every situation of two fills on one node or on two. `TurnQueueTest` has what comes of a queue over time.
final class TurnDecisionTest {
    private static final Instant NOW = WarmWorld.NOW;
    private static final List<Duration> AGES = List.of(
            Duration.ofMinutes(-5),
            Duration.ofSeconds(1),
            TurnDecision.RENEWAL,
            TurnDecision.START,
            TurnDecision.RESTART,
            TurnDecision.STALL,
            TurnDecision.LONGEST);

    /// One fill.
    ///
    /// @param progress 50, as in the turns, or another
    record Fill(State state, long progress, Optional<Turn> turn, boolean isAwaited) {
        OrderedReplica on(String dataset, String node) {
            return on(dataset, dataset, node);
        }

        /// @param content the same for two names of one digest
        OrderedReplica on(String dataset, String content, String node) {
            Report report = Report.of(state).withProgress(progress);
            return new OrderedReplica(
                    dataset + "." + node,
                    NOW,
                    new Order(dataset, node, volume(dataset, content), false, Optional.empty(), turn),
                    Optional.of(report));
        }

        boolean isGiven() {
            return turn.filter(Turn::isGiven).isPresent();
        }
    }

    private static VolumeId.DatasetVolume volume(String dataset, String content) {
        String digest = Digest.of(ByteBuffer.wrap(content.getBytes(StandardCharsets.UTF_8)))
                .beginning();
        return new VolumeId.DatasetVolume("lab", "cephfs", digest, Optional.empty(), "/datasets/" + dataset);
    }

    /// Where two fills may be.
    private enum Places {
        ONE_NODE,
        TWO_NODES,
        /// Two names of one content, on one node.
        ONE_FILL
    }

    private static Stream<Fill> fills() {
        return Arrays.stream(State.values())
                .flatMap(state -> IntStream.of(50, 49)
                        .boxed()
                        .flatMap(progress -> turns().flatMap(turn ->
                                Stream.of(false, true).map(isAwaited -> new Fill(state, progress, turn, isAwaited)))));
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
        return new ObservedTurns(NOW, limit, List.copyOf(fills.keySet()), awaited, false);
    }

    private static ObservedTurns afterAbsence(ObservedTurns is) {
        return new ObservedTurns(is.now(), is.limit(), is.replicas(), is.awaited(), true);
    }

    static List<OrderedReplica> after(ObservedTurns is) {
        Map<OrderedReplica, Optional<Turn>> changes =
                TurnDecision.decide(is).stream().collect(Collectors.toMap(Change::replica, Change::turn));
        return is.replicas().stream()
                .map(replica -> Optional.ofNullable(changes.get(replica))
                        .map(replica::with)
                        .orElse(replica))
                .toList();
    }

    static Optional<Turn> turn(OrderedReplica replica) {
        return replica.order().turn();
    }

    static boolean isGiven(OrderedReplica replica) {
        return turn(replica).filter(Turn::isGiven).isPresent();
    }

    /// What must hold of a fill alone, in words of the documentation, and written without the code's own.
    private static boolean keeps(Fill fill) {
        Duration age =
                fill.turn().map(turn -> Duration.between(turn.renewed(), NOW)).orElse(Duration.ZERO);
        return fill.isGiven()
                && age.toHours() < 24
                && switch (fill.state()) {
                    case FILLING -> fill.progress() != 50 || age.toMinutes() < 15;
                    case WAITING -> age.toMinutes() < 5;
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
                for (Places places : Places.values()) {
                    for (int limit = 0; limit <= 2; limit++) {
                        check(one, other, places, limit, false);
                        check(one, other, places, limit, true);
                        situations += 2;
                    }
                }
            }
        }
        assertEquals(2 * 9 * fills.size() * fills.size(), situations);
        assertEquals(6 * 2 * 15 * 2, fills.size());
    }

    private static void check(Fill one, Fill other, Places places, int limit, boolean wasAway) {
        OrderedReplica first = one.on("u1.x", "a");
        OrderedReplica second =
                other.on("u1.y", places == Places.ONE_FILL ? "u1.x" : "u1.y", places == Places.TWO_NODES ? "b" : "a");
        ObservedTurns there = observed(limit, Map.of(first, one.isAwaited(), second, other.isAwaited()));
        ObservedTurns is = wasAway ? afterAbsence(there) : there;
        List<OrderedReplica> after = after(is);
        OrderedReplica x = after.stream()
                .filter(each -> each.name().equals(first.name()))
                .findFirst()
                .orElseThrow();
        OrderedReplica y = after.stream()
                .filter(each -> each.name().equals(second.name()))
                .findFirst()
                .orElseThrow();
        Supplier<String> what = () -> limit + (wasAway ? " away " : " ") + one + " " + other + " " + places + " -> "
                + turn(x) + " " + turn(y);
        boolean isOneNode = places != Places.TWO_NODES;
        if (limit == 0) {
            assertTrue(turn(x).isEmpty() && turn(y).isEmpty(), () -> "no limit, no turns: " + what.get());
            return;
        }
        long given = Stream.of(x, y).filter(TurnDecisionTest::isGiven).count();
        long kept = Stream.of(one, other).filter(TurnDecisionTest::keeps).count();
        assertTrue(
                given <= Math.max(limit, kept), () -> "within the limit, except turns of a higher one: " + what.get());
        assertTrue(!isOneNode || given <= 1, () -> "a node, and so a fill, has one turn: " + what.get());
        assertTrue(isOneNode || !keeps(one) || isGiven(x), () -> "a turn that is used is kept: " + what.get());
        Map<String, Optional<Turn>> before = Map.of(first.name(), turn(first), second.name(), turn(second));
        for (OrderedReplica each : List.of(x, y)) {
            boolean isWish = each.state() == State.QUEUED || each.state() == State.FILLING;
            assertTrue(!isWish || turn(each).isPresent(), () -> "a wish has a place: " + what.get());
            assertTrue(
                    isWish
                            || turn(each).isEmpty()
                            || isGiven(each)
                            || turn(each).equals(before.get(each.name())),
                    () -> "no wish, no new place: " + what.get());
        }
        assertEquals(rests(one), !isGiven(x) && turn(x).isPresent() && !isWish(one), () -> "a restart: " + what.get());
        assertTrue(
                keeps(one) || !isGiven(x) || isReady(one, wasAway),
                () -> "only a node that asks gets a turn: " + what.get());
        boolean isIdle = given < limit && !(isOneNode && given == 1);
        assertTrue(
                !isIdle || !(isReady(one, wasAway) && !isGiven(x)),
                () -> "no turn is left while a node asks: " + what.get());
        int most = places == Places.ONE_FILL ? 0 : 1;
        assertTrue(
                turn(x).filter(turn -> isWish(one) && !turn.isGiven()).stream().allMatch(turn -> turn.before() <= most),
                () -> "who comes before: " + what.get());
        assertTrue(
                turn(x).filter(turn -> isWish(one) && !turn.isGiven()).stream()
                        .allMatch(turn -> turn.since().equals(begin(one, other, places))),
                () -> "since when it waits: " + what.get());
        assertEquals(
                Set.of(), unsettled(is, after), () -> "a decision that is written is not made again: " + what.get());
    }

    /// When a wait began, if one still waits: later by what passed while its node's other fill had a long turn.
    private static Instant begin(Fill one, Fill other, Places places) {
        boolean isEnding = places == Places.ONE_FILL && other.isGiven() && !keeps(other);
        if (one.turn().isEmpty() || one.isGiven() || isEnding) {
            return NOW;
        }
        Instant since = one.turn().get().since();
        boolean isLong = places != Places.TWO_NODES
                && keeps(other)
                && Duration.between(other.turn().orElseThrow().since(), NOW).toMinutes() >= 15;
        Duration age = Duration.between(since, NOW);
        return isLong && age.toMinutes() >= 1 ? NOW : since;
    }

    private static boolean isWish(Fill fill) {
        return fill.state() == State.QUEUED || fill.state() == State.FILLING;
    }

    /// Whether a node has restarted, and keeps its place in the queue.
    private static boolean rests(Fill fill) {
        return (fill.state() == State.ABSENT || fill.state() == State.WAITING)
                && fill.turn()
                        .filter(turn -> !turn.isGiven()
                                && Duration.between(turn.renewed(), NOW).toMinutes() < 5)
                        .isPresent();
    }

    /// A node that heard nothing for so long fills without a turn, but only while the controller is away.
    private static boolean isReady(Fill fill, boolean wasAway) {
        boolean isAlone = wasAway
                && fill.turn()
                        .filter(turn -> turn.isGiven()
                                || turn.renewed().plus(TurnDecision.START).isAfter(NOW))
                        .isEmpty();
        return fill.state() == State.QUEUED || (fill.state() == State.FILLING && isAlone);
    }

    private static Set<Change> unsettled(ObservedTurns is, List<OrderedReplica> after) {
        return new HashSet<>(
                TurnDecision.decide(new ObservedTurns(is.now(), is.limit(), after, is.awaited(), is.wasAway())));
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
        List<OrderedReplica> after = after(new ObservedTurns(NOW, 1, all, Set.of(), false));
        assertEquals(
                List.of(
                        "node-1 waits for its turn: 0 before it",
                        "node-2 waits for its turn: 1 before it",
                        "node-3 waits for its turn: 2 before it"),
                after.stream().skip(1).map(OrderedReplica::describe).toList());
        assertTrue(isGiven(after.getFirst()));
    }

    /// A fill as its node reports it, with a turn that was given and renewed as long ago as said.
    private static OrderedReplica holding(State state, long progress, Duration since, Duration renewed) {
        Turn turn = new Turn(true, 0, 50, NOW.minus(since), NOW.minus(renewed));
        return new Fill(state, progress, Optional.of(turn), false).on("u1.x", "holder");
    }

    private static boolean keepsItsTurn(OrderedReplica holder) {
        return given(observed(1, Map.of(holder, false, queued("next", Duration.ZERO), false)))
                .equals(List.of("holder"));
    }

    @Test
    void aPartThatNobodyFillsHoldsNoTurn() {
        Duration minutes = Duration.ofMinutes(3);
        assertTrue(keepsItsTurn(holding(State.FILLING, 50, minutes, minutes)));
        assertFalse(keepsItsTurn(holding(State.ABSENT, 50, minutes, minutes)));
        assertFalse(keepsItsTurn(holding(State.FAILED, 50, Duration.ZERO, Duration.ZERO)));
    }

    @Test
    void anyProgressKeepsATurnForADayAtMost() {
        Duration day = Duration.ofDays(1).minusMinutes(1);
        Duration quarter = Duration.ofMinutes(15);
        assertTrue(keepsItsTurn(holding(State.FILLING, 51, day, quarter)));
        assertTrue(keepsItsTurn(holding(State.FILLING, 0, day, quarter)), "its node has started again");
        assertFalse(keepsItsTurn(holding(State.FILLING, 50, day, quarter)));
        assertFalse(keepsItsTurn(holding(State.FILLING, 51, Duration.ofDays(1), Duration.ofMinutes(1))));
    }

    @Test
    void aNodeThatRestartsKeepsItsPlace() {
        Instant since = NOW.minus(Duration.ofMinutes(50));
        Optional<Turn> place = Optional.of(new Turn(false, 0, 0, since, NOW.minus(Duration.ofMinutes(4))));
        for (State state : List.of(State.ABSENT, State.WAITING)) {
            OrderedReplica starts = new Fill(state, 0, place, false).on("u1.x", "restarts");
            OrderedReplica later = queued("later", Duration.ofMinutes(49));
            List<OrderedReplica> between = after(observed(1, Map.of(starts, false, later, false)));
            assertEquals(
                    List.of("later"),
                    between.stream()
                            .filter(TurnDecisionTest::isGiven)
                            .map(each -> each.order().node())
                            .toList());
            Optional<Turn> kept = between.stream()
                    .filter(each -> each.name().equals(starts.name()))
                    .flatMap(each -> turn(each).stream())
                    .findFirst();
            OrderedReplica asks = new Fill(State.QUEUED, 0, kept, false).on("u1.x", "restarts");
            assertEquals(List.of("restarts"), given(observed(1, Map.of(asks, false, later, false))));
        }
    }

    @Test
    void twoNamesOfOneContentAreOneFill() {
        Optional<Turn> old = Optional.of(new Turn(false, 7, 0, NOW.minusSeconds(90), NOW.minusSeconds(90)));
        OrderedReplica one = new Fill(State.QUEUED, 0, old, false).on("u1.x", "same", "a");
        OrderedReplica other = new Fill(State.QUEUED, 0, old, false).on("u2.y", "same", "a");
        OrderedReplica first = queued("first", Duration.ofMinutes(3));
        OrderedReplica last = new Fill(State.QUEUED, 0, Optional.empty(), false).on("u1.x", "last");
        List<OrderedReplica> after = after(observed(1, Map.of(one, false, other, false, first, false, last, false)));
        Map<String, String> places =
                after.stream().collect(Collectors.toMap(OrderedReplica::name, OrderedReplica::describe));
        assertEquals(
                Map.of(
                        one.name(), "a waits for its turn: 0 before it",
                        other.name(), "a waits for its turn: 0 before it",
                        first.name(), "first has its turn, or waits for it",
                        last.name(), "last waits for its turn: 1 before it"),
                places);
        assertEquals(
                List.of("a"), given(observed(1, Map.of(one, false, other, true, first, false))), "pods wait for one");
        assertEquals(List.of("a"), given(observed(2, Map.of(one, false, other, false))), "once");
    }

    @Test
    void anOrderThatIsToBeDeletedHoldsNoTurn() {
        OrderedReplica gone = queued("a", Duration.ZERO);
        OrderedReplica stays = queued("b", Duration.ZERO);
        assertEquals(List.of(stays), OrderChange.staying(List.of(gone, stays), List.of(new OrderChange.Forget(gone))));
    }

    /// The turn ends with the fill, whichever of its names had it.
    @Test
    void aFillThatFailedWaitsBehindTheOthersUnderEachOfItsNames() {
        Optional<Turn> waits = Optional.of(new Turn(false, 0, 0, NOW.minus(Duration.ofMinutes(30)), NOW));
        Optional<Turn> had = Optional.of(new Turn(true, 0, 50, NOW.minus(Duration.ofMinutes(20)), NOW));
        OrderedReplica failed = new Fill(State.FAILED, 50, had, false).on("u1.x", "same", "a");
        OrderedReplica again = new Fill(State.QUEUED, 50, waits, false).on("u2.y", "same", "a");
        OrderedReplica fresh = queued("b", Duration.ofSeconds(1));
        assertEquals(List.of("b"), given(observed(1, Map.of(failed, false, again, false, fresh, false))));
    }
}

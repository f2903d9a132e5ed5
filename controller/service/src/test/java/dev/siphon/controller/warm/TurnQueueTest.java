package dev.siphon.controller.warm;

import static dev.siphon.controller.warm.TurnDecisionTest.after;
import static dev.siphon.controller.warm.TurnDecisionTest.isGiven;
import static dev.siphon.controller.warm.TurnDecisionTest.turn;
import static dev.siphon.controller.warm.WarmWorld.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.controller.warm.TurnDecision.ObservedTurns;
import dev.siphon.controller.warm.TurnDecisionTest.Fill;
import dev.siphon.csi.dataset.DatasetReplica.State;
import dev.siphon.csi.dataset.DatasetReplica.Turn;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// What comes of a queue of fills over time, also if a node is dead, or stolen.
final class TurnQueueTest {
    /// Returns a node's fill with the turn that it has in `world`.
    private static OrderedReplica reports(State state, long bytes, String dataset, String node, Queue world) {
        Optional<Turn> turn = world.turn(dataset + "." + node);
        return new Fill(state, bytes, turn, false).on(dataset, node);
    }

    /// A queue over time, with one turn for all.
    private static final class Queue {
        private Instant now = NOW;
        private List<OrderedReplica> all = new ArrayList<>();

        Optional<Turn> turn(String name) {
            return all.stream()
                    .filter(each -> each.name().equals(name))
                    .findFirst()
                    .flatMap(TurnDecisionTest::turn);
        }

        boolean has(String name) {
            return turn(name).filter(Turn::isGiven).isPresent();
        }

        void report(OrderedReplica replica) {
            all.removeIf(each -> each.name().equals(replica.name()));
            all.add(replica);
        }

        void pass(Duration time, boolean wasAway) {
            now = now.plus(time);
            all = new ArrayList<>(after(new ObservedTurns(now, 1, all, Set.of(), wasAway)));
        }
    }

    /// One node that says it fills, and makes no progress, is overtaken by all; then it is only in nobody's way.
    @Test
    void everyoneIsServedAlthoughANodeIsDead() {
        OrderedReplica dead =
                new Fill(State.FILLING, 10, Optional.of(new Turn(true, 0, 10, NOW, NOW)), true).on("u1.x", "dead");
        List<OrderedReplica> world = new ArrayList<>(List.of(dead));
        Optional<Turn> waits = Optional.of(new Turn(false, 0, 0, NOW, NOW));
        IntStream.range(0, 5)
                .forEach(at -> world.add(new Fill(State.QUEUED, 0, waits, false).on("u1.x", "node-" + at)));
        Instant now = NOW;
        Set<String> served = new HashSet<>();
        for (int minute = 0; minute < 40; minute++) {
            now = now.plus(Duration.ofMinutes(1));
            List<OrderedReplica> next = after(new ObservedTurns(now, 1, world, Set.of(dead.place()), false));
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

    /// A stolen node claims progress for one order after the other, and leaves a turn as late as it can.
    @Test
    void manyOrdersOfANodeHoldTheirTurnsNotOneAfterTheOther() {
        Map<String, State> ends = Map.of("the longest time", State.FILLING, "its word", State.LOCAL);
        ends.forEach((how, end) -> {
            Queue world = new Queue();
            List<String> datasets =
                    IntStream.range(0, 20).mapToObj(at -> "u1.d-" + at).toList();
            datasets.forEach(each -> world.report(reports(State.QUEUED, 0, each, "stolen", world)));
            world.pass(Duration.ZERO, false);
            world.report(reports(State.QUEUED, 0, "u1.x", "honest", world));
            int minute = 0;
            for (; !world.has("u1.x.honest") && minute < 3 * 24 * 60; minute++) {
                for (String each : datasets) {
                    boolean isHeld = world.has(each + ".stolen");
                    boolean isLate = world.turn(each + ".stolen")
                            .filter(turn ->
                                    Duration.between(turn.since(), world.now).toMinutes() >= 24 * 60 - 1)
                            .isPresent();
                    State state = !isHeld ? State.QUEUED : isLate ? end : State.FILLING;
                    world.report(reports(state, minute, each, "stolen", world));
                }
                world.pass(Duration.ofMinutes(1), false);
            }
            assertTrue(minute <= 24 * 60, how + " ended it after " + minute + " minutes");
        });
    }

    @Test
    void shortTurnsOfANodeCostItsOtherWaitsNothing() {
        Queue world = new Queue();
        world.report(reports(State.QUEUED, 0, "u1.x", "a", world));
        world.report(reports(State.QUEUED, 0, "u1.y", "a", world));
        world.pass(Duration.ZERO, false);
        for (int minute = 1; minute < 15; minute++) {
            world.report(reports(State.FILLING, minute, "u1.x", "a", world));
            world.pass(Duration.ofMinutes(1), false);
        }
        assertEquals(Optional.of(NOW), world.turn("u1.y.a").map(Turn::since));
    }

    /// Pods wait for ever new datasets on one node, each of which takes two hours to fill.
    @Test
    void whereTheNodeItselfFillsForHoursNobodyStarves() {
        List<OrderedReplica> all = new ArrayList<>();
        all.add(new Fill(State.QUEUED, 0, Optional.empty(), false).on("u1.x", "a"));
        Instant now = NOW;
        boolean isServed = false;
        for (int minute = 0; minute < 24 * 60 && !isServed; minute++) {
            if (minute % 60 == 0) {
                all.add(new Fill(State.QUEUED, 0, Optional.empty(), true).on("u1.new-" + minute, "a"));
            }
            Set<DatasetOnNode> awaited = all.stream()
                    .map(OrderedReplica::place)
                    .filter(place -> !place.dataset().equals("u1.x"))
                    .collect(Collectors.toSet());
            all = new ArrayList<>(after(new ObservedTurns(now, 1, all, awaited, false)));
            isServed =
                    all.stream().anyMatch(each -> isGiven(each) && each.name().equals("u1.x.a"));
            now = now.plus(Duration.ofMinutes(1));
            Instant current = now;
            int bytes = minute;
            all = new ArrayList<>(all.stream()
                    .filter(each -> !isGiven(each)
                            || Duration.between(turn(each).orElseThrow().since(), current)
                                            .toMinutes()
                                    < 120)
                    .map(each -> isGiven(each)
                            ? new Fill(State.FILLING, bytes, turn(each), false)
                                    .on(each.order().dataset(), "a")
                            : each)
                    .toList());
        }
        assertTrue(isServed, all.toString());
    }

    /// Neither what it had before nor a rest of two minutes helps a node that fills without its turn.
    @Test
    void aNodeThatFillsUnaskedComesBeforeNobodyWhileTheControllerIsThere() {
        Queue world = new Queue();
        world.report(reports(State.QUEUED, 0, "u1.x", "first", world));
        world.pass(Duration.ZERO, false);
        world.report(reports(State.QUEUED, 0, "u1.x", "waits", world));
        world.report(reports(State.QUEUED, 0, "u1.y", "stolen", world));
        world.pass(Duration.ofMinutes(1), false);
        world.report(reports(State.FILLING, 1, "u1.x", "first", world));
        world.report(reports(State.LOCAL, 0, "u1.x", "stolen", world));
        world.report(reports(State.WAITING, 0, "u1.y", "stolen", world));
        world.pass(Duration.ofMinutes(3), false);
        world.report(reports(State.LOCAL, 0, "u1.x", "first", world));
        world.report(reports(State.FILLING, 0, "u1.x", "stolen", world));
        world.report(reports(State.FILLING, 0, "u1.y", "stolen", world));
        Queue afterAbsence = new Queue();
        afterAbsence.now = world.now;
        world.all.forEach(afterAbsence::report);
        world.pass(Duration.ofSeconds(1), false);
        assertTrue(world.has("u1.x.waits"), world.all.toString());
        afterAbsence.pass(Duration.ofSeconds(1), true);
        assertFalse(afterAbsence.has("u1.x.waits"), afterAbsence.all.toString());
    }
}

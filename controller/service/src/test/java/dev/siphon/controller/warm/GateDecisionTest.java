package dev.siphon.controller.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.warm.GateModel.Fit;
import dev.siphon.controller.warm.GateModel.Ordered;
import dev.siphon.controller.warm.GateModel.Read;
import dev.siphon.controller.warm.GateModel.Said;
import dev.siphon.controller.warm.GateModel.Spot;
import dev.siphon.controller.warm.GateModel.Waited;
import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.csi.DiagramEdges;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// Decides in every situation of [GateModel], and follows the rounds from there until nothing changes.
final class GateDecisionTest {
    /// 5 kinds of pods, 3 waits, 2 spreads; two nodes, each with 3 kinds of room and 33 of orders.
    private static final int SITUATIONS = 5 * 3 * 2 * (3 * 33) * (3 * 33);

    /// An order is withdrawn, the node releases it, it is deleted, and written again; then nothing changes.
    private static final int MOST_ROUNDS = 5;

    private static final Pattern EDGE =
            Pattern.compile("^ {2}(Missing|Wanted|Unwanted|Closed) --> (\\w+) : ([a-zA-Z, ]+)$");

    private final Map<String, Set<String>> edges = new TreeMap<>();
    private int longest;

    /// One round: what was decided, and the situation after it.
    private record Round(GateVerdict verdict, Set<DatasetOnNode> wanted, GateModel next) {}

    private static void require(boolean holds, String what, GateModel model, Object decided) {
        if (!holds) {
            throw new AssertionError(what + ": " + decided + " in " + model);
        }
    }

    private Round round(GateModel model) {
        ObservedGates is = model.observed();
        GateNodes.Decision decision = new GateNodes(is, model.settings()).decide();
        GateVerdict verdict =
                Optional.ofNullable(decision.verdicts().get(model.waited().pod)).orElseThrow();
        checkVerdict(model, verdict);
        checkWanted(model, decision.wanted());
        GateModel next = model;
        Set<Integer> changed = new HashSet<>();
        for (OrderChange change : OrderChange.decide(is, decision.wanted(), Optional.of(Set.of()))) {
            String name = switch (change) {
                case OrderChange.Write(var place, var _, var _) -> place.node();
                case OrderChange.Want(var replica, var _) -> replica.order().node();
                case OrderChange.Answer(var replica, var _) -> replica.order().node();
                case OrderChange.Forget(var replica) -> replica.order().node();
            };
            int node = GateModel.NODES.indexOf(name);
            require(changed.add(node), "one change for each order", model, change);
            Ordered before = model.spots().get(node).order();
            boolean isWanted = decision.wanted().contains(new DatasetOnNode(WarmWorld.X, name));
            Ordered after = changed(model, change, before, isWanted);
            edge(before.shown(), after.shown(), change.getClass().getSimpleName());
            next = next.with(node, after);
        }
        return new Round(verdict, decision.wanted(), next);
    }

    private static Ordered changed(GateModel model, OrderChange change, Ordered before, boolean isWanted) {
        return switch (change) {
            case OrderChange.Write(var _, var volume, var _) -> {
                require(isWanted && !before.isThere(), "it is wanted and missing", model, change);
                require(volume.equals(WarmWorld.volume(WarmWorld.X)), "the dataset of today", model, change);
                yield new Ordered(true, true, true, Said.NOTHING_YET);
            }
            case OrderChange.Want(var _, var wanted) -> {
                require(wanted == isWanted && wanted != before.isWanted(), "it is not so yet", model, change);
                require(before.isCurrent(), "it is of the dataset of today", model, change);
                yield new Ordered(true, wanted, true, before.said());
            }
            case OrderChange.Answer _ -> before;
            case OrderChange.Forget _ -> {
                boolean isAbsent =
                        Set.of(Said.NOTHING_YET, Said.NOTHING, Said.ABSENT).contains(before.said());
                require(
                        !before.isCurrent() || (!isWanted && !before.isWanted() && isAbsent),
                        "no wanted order is dropped, and no replica forgotten",
                        model,
                        change);
                yield Ordered.MISSING;
            }
        };
    }

    private void edge(String from, String to, String label) {
        if (!from.equals(to)) {
            edges.computeIfAbsent(from + " --> " + to, _ -> new TreeSet<>()).add(label);
        }
    }

    /// Returns why the gate opens; empty if it stays closed.
    private static String result(GateModel model) {
        boolean isLate = model.waited() == Waited.TOO_LONG;
        return switch (model.read()) {
            case NOTHING -> "nothing";
            case CANNOT, PENDING -> "";
            case UNKNOWN -> isLate ? "late" : "";
            case ALL -> {
                List<Spot> possible = model.possible();
                if (possible.isEmpty()) {
                    yield "unsuited";
                }
                if (possible.stream().anyMatch(Spot::isLocal)) {
                    yield "warm";
                }
                boolean isHopeless = possible.stream().allMatch(Spot::isTroubled);
                yield isLate ? "late" : isHopeless && model.waited() == Waited.BEYOND_GRACE ? "failed" : "";
            }
        };
    }

    private void checkVerdict(GateModel model, GateVerdict verdict) {
        String result = result(model);
        switch (verdict) {
            case GateVerdict.Open(var placement, var said, var _) -> {
                require(said.equals(result), "the gate opens only as " + result, model, verdict);
                edge("Closed", "Open", said);
                Set<String> local = new TreeSet<>();
                for (int node = 0; node < GateModel.NODES.size(); node++) {
                    Spot spot = model.spots().get(node);
                    if (model.read() == Read.ALL && spot.fit() != Fit.UNSUITED && spot.isLocal()) {
                        local.add("host-" + GateModel.NODES.get(node));
                    }
                }
                require(
                        Set.copyOf(placement.hostnames()).equals(local),
                        "nodes that have it are preferred",
                        model,
                        verdict);
            }
            case GateVerdict.Wait _, GateVerdict.Undecided _ -> {
                require(result.isEmpty(), "the gate opens as " + result, model, verdict);
                boolean isSilent = model.read() == Read.PENDING || model.read() == Read.UNKNOWN;
                require(isSilent == verdict instanceof GateVerdict.Undecided, "its users hear why", model, verdict);
            }
        }
    }

    private static void checkWanted(GateModel model, Set<DatasetOnNode> wanted) {
        Set<Spot> suited = model.spots().stream()
                .filter(spot -> spot.fit() != Fit.UNSUITED)
                .collect(Collectors.toSet());
        for (int node = 0; node < GateModel.NODES.size(); node++) {
            Spot spot = model.spots().get(node);
            boolean isWanted = wanted.contains(new DatasetOnNode(WarmWorld.X, GateModel.NODES.get(node)));
            switch (model.read()) {
                case NOTHING, CANNOT -> require(!isWanted, "nothing is wanted for it", model, wanted);
                case PENDING, UNKNOWN ->
                    require(isWanted == (spot.order().isThere() && spot.order().isWanted()), "it stays", model, wanted);
                case ALL -> require(!isWanted || suited.contains(spot), "it could run there", model, wanted);
            }
        }
        require(
                model.read() != Read.ALL || suited.isEmpty() || !wanted.isEmpty(),
                "it is filled somewhere",
                model,
                wanted);
    }

    /// Follows the rounds, and what nodes say about them, until nothing changes.
    private void follow(GateModel start) {
        GateModel model = start;
        for (int rounds = 1; ; rounds++) {
            require(rounds <= MOST_ROUNDS, "no end after " + MOST_ROUNDS + " rounds", start, model);
            Round round = round(model);
            if (round.verdict() instanceof GateVerdict.Open) {
                return;
            }
            GateModel next = round.next().equals(model) ? model.released() : round.next();
            if (next.equals(model)) {
                checkEnd(model, round.wanted());
                longest = Math.max(longest, rounds);
                return;
            }
            model = next;
        }
    }

    /// Checks a situation that nothing but a node, another pod or time ends.
    private void checkEnd(GateModel model, Set<DatasetOnNode> wanted) {
        for (int node = 0; node < GateModel.NODES.size(); node++) {
            Ordered order = model.spots().get(node).order();
            boolean isWanted = wanted.contains(new DatasetOnNode(WarmWorld.X, GateModel.NODES.get(node)));
            require(order.isCurrent(), "orders are for the dataset of today", model, wanted);
            require(isWanted == (order.isThere() && order.isWanted()), "orders are as wanted", model, wanted);
        }
        if (model.read() == Read.ALL) {
            require(round(model.filled()).verdict() instanceof GateVerdict.Open, "it opens when warm", model, wanted);
        }
        if (model.read() == Read.ALL || model.read() == Read.UNKNOWN) {
            require(round(model.late()).verdict() instanceof GateVerdict.Open, "nobody waits forever", model, wanted);
        }
    }

    @Test
    void everySituationEndsWell() throws IOException {
        AtomicInteger situations = new AtomicInteger();
        GateModel.all().forEach(model -> {
            situations.incrementAndGet();
            follow(model);
        });
        assertEquals(SITUATIONS, situations.get());
        assertEquals(MOST_ROUNDS, longest);
        assertEquals(DiagramEdges.in(DiagramEdges.DOCUMENT, EDGE), edges);
    }
}

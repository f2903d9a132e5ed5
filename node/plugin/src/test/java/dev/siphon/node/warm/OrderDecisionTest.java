package dev.siphon.node.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.DiagramEdges;
import dev.siphon.node.warm.ObservedOrder.Wanted;
import dev.siphon.node.warm.ObservedOrder.Work;
import dev.siphon.node.warm.OrderModel.Outcome;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// Decides in every situation of [OrderModel], and follows the steps from there to their end, whatever comes of each.
final class OrderDecisionTest {
    /// Without a cache directory 8 orders; with one, 3 disks and 8 orders, each with 11 states of work.
    private static final int SITUATIONS = 8 + 8 * 3 * 11;

    /// Release, Ask and Wait, or Open, Fill and Tell.
    private static final int MOST_STEPS = 3;

    private static final Pattern EDGE =
            Pattern.compile("^ {2}(None|Asked|Mounted|Kept|Verified) --> (\\w+) : ([A-Z]\\w+(?:, [A-Z]\\w+)*)$");

    private final Map<String, Set<String>> edges = new TreeMap<>();
    private final Set<String> taken = new TreeSet<>();
    private int longest;

    private static void require(boolean holds, String what, OrderModel model, OrderStep step) {
        if (!holds) {
            throw new AssertionError(what + ": " + step + " in " + model);
        }
    }

    private static boolean isNone(OrderModel model) {
        return model.work() instanceof Work.None;
    }

    /// Checks one decision.
    private static void check(OrderModel model, OrderStep step) {
        boolean isRight = model.isReplicaWanted() && !model.work().isOfOther(OrderModel.VOLUME);
        switch (step) {
            case OrderStep.End _ -> {
                require(
                        !(model.wanted() instanceof Wanted.Ordered),
                        "an order that stands is not dropped",
                        model,
                        step);
                require(isNone(model) || model.wanted() instanceof Wanted.Unattended, "nothing stays", model, step);
            }
            case OrderStep.Release _ -> {
                require(!isNone(model), "there is something to release", model, step);
                require(!(model.wanted() instanceof Wanted.Unattended), "the next process needs it", model, step);
                require(!isRight || !model.isWhole(), "nothing is released that serves the order", model, step);
                require(!isRight || !(model.work() instanceof Work.Mounted), "no image is mounted twice", model, step);
            }
            case OrderStep.Tell(var report) -> {
                require(report.equals(model.copy().report()), "what is on the disk is reported", model, step);
                require(
                        model.isReplicaWanted()
                                ? isRight && model.isWhole() && model.work() instanceof Work.Verified
                                : isNone(model),
                        "an ordered replica was verified",
                        model,
                        step);
            }
            case OrderStep.Ask(var volume) -> {
                require(isRight && isNone(model) && !model.isWhole(), "it needs the key", model, step);
                require(volume.equals(OrderModel.VOLUME), "of this volume", model, step);
            }
            case OrderStep.Wait _ -> require(model.isAwaited() && !model.isAnswered(), "it waits", model, step);
            case OrderStep.Open(var asked, var key) -> {
                require(isRight && model.isAnswered() && !model.isWhole(), "it has the key", model, step);
                require(asked.equals(model.work()), "for this question", model, step);
                require(key.volume().equals(OrderModel.VOLUME), "of this volume", model, step);
            }
            case OrderStep.Fill(var volume, var digest) -> {
                require(isRight && volume.equals(OrderModel.VOLUME), "it is wanted", model, step);
                require(digest.equals(OrderModel.DIGEST), "it is the right one", model, step);
                require(model.isWhole() || model.work() instanceof Work.Mounted, "there is a source", model, step);
                require(!(model.work() instanceof Work.Verified), "it is not verified yet", model, step);
            }
            case OrderStep.Fail _ -> {
                require(model.isReplicaWanted(), "it is wanted", model, step);
                require(!model.hasCache() || !model.isWhole(), "it cannot be made", model, step);
                require(
                        !model.hasCache() || model.isAnswered() || model.isOverdue(),
                        "the controller is to blame",
                        model,
                        step);
            }
        }
    }

    private static String shown(OrderModel model) {
        return model.work().getClass().getSimpleName();
    }

    /// Follows every outcome of each step.
    private void follow(OrderModel model, int steps) {
        OrderStep step = OrderDecision.decide(model.observed());
        taken.add(step.getClass().getSimpleName());
        check(model, step);
        longest = Math.max(longest, steps);
        require(steps <= MOST_STEPS, "no end after " + MOST_STEPS + " steps", model, step);
        for (Outcome outcome : model.outcomes(step)) {
            OrderModel next = outcome.next();
            require(
                    outcome.isSuccess() || !(next.work() instanceof Work.Verified),
                    "only a whole replica is verified",
                    next,
                    step);
            if (outcome.isSuccess() && !shown(model).equals(shown(next))) {
                edges.computeIfAbsent(shown(model) + " --> " + shown(next), _ -> new TreeSet<>())
                        .add(step.getClass().getSimpleName());
            }
            if (!outcome.isLast()) {
                require(!next.equals(model), "a step changes something", model, step);
                follow(next, steps + 1);
            }
        }
    }

    /// The controller answers, and all succeeds: what is wanted comes true.
    private static void checkSuccess(OrderModel start) {
        OrderModel model = start;
        for (int steps = 0; ; steps++) {
            OrderStep step = OrderDecision.decide(model.observed());
            require(steps <= 2 * MOST_STEPS, "it never comes true", start, step);
            if (step instanceof OrderStep.Fail && !start.hasCache()) {
                return;
            }
            switch (step) {
                case OrderStep.End _ -> {
                    return;
                }
                case OrderStep.Tell _ -> {
                    require(model.isWhole() || !model.isReplicaWanted(), "it is there", start, step);
                    return;
                }
                case OrderStep.Wait _ -> model = model.answered();
                default -> model = model.outcomes(step).getFirst().next();
            }
        }
    }

    @Test
    void everySituationEndsWell() throws IOException {
        List<OrderModel> all = OrderModel.all().toList();
        assertEquals(SITUATIONS, Set.copyOf(all).size());
        all.forEach(model -> follow(model, 1));
        assertEquals(MOST_STEPS, longest);
        all.forEach(OrderDecisionTest::checkSuccess);
        assertEquals(
                Arrays.stream(OrderStep.class.getPermittedSubclasses())
                        .map(Class::getSimpleName)
                        .collect(Collectors.toCollection(TreeSet::new)),
                taken);
        assertEquals(DiagramEdges.in(DiagramEdges.DOCUMENT, EDGE), edges);
    }
}

package dev.siphon.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DiagramEdges;
import dev.siphon.node.replica.ReplicaModel.Condition;
import dev.siphon.node.replica.ReplicaModel.Replica;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Decides in every situation of [ReplicaModel] that can occur, and follows the steps from there to their end.
final class ReplicaDecisionTest {
    /// Disks 4, replicas 10, both twice; 3 trees in 4 places; requests, preferences, and whether the image is known.
    private static final int SITUATIONS = 2_443_392;

    private static final int MOST_STEPS = 10;
    private static final Pattern EDGE = Pattern.compile("^ {4}(\\w+) --> (\\w+) : ([A-Z]\\w+(?:, [A-Z]\\w+)*)$");
    private static final Pattern ROW = Pattern.compile("^\\| [0-9]+ \\| `([A-Z]\\w+)` \\|.*");
    private static final Set<Integer> BOTH = Set.of(0, 1);

    /// The steps to the end from each situation, plus one.
    private static final byte[] STEPS = new byte[ReplicaModel.LIMIT];

    private static final Map<String, Integer> TAKEN = new TreeMap<>();
    private static final Map<String, Set<String>> EDGES = new TreeMap<>();

    @BeforeAll
    static void explore() {
        for (int situation = 0; situation < STEPS.length; situation++) {
            if (STEPS[situation] == 0 && ReplicaModel.of(situation).canOccur()) {
                follow(situation);
            }
        }
    }

    private static void follow(int start) {
        Deque<Integer> path = new ArrayDeque<>();
        int situation = start;
        while (STEPS[situation] == 0) {
            ReplicaModel model = ReplicaModel.of(situation);
            ReplicaStep step = ReplicaDecision.decide(model.observed(true), model.wanted);
            TAKEN.merge(step.getClass().getSimpleName(), 1, Integer::sum);
            checkStep(model, step);
            ReplicaModel next = ReplicaModel.of(situation);
            if (!next.take(step)) {
                checkEnd(model, step);
                STEPS[situation] = 1;
                break;
            }
            checkChange(model, step, next);
            path.push(situation);
            require(path.size() <= MOST_STEPS, "no end after " + MOST_STEPS + " steps", ReplicaModel.of(start), step);
            situation = next.situation();
        }
        for (byte steps = STEPS[situation]; !path.isEmpty(); ) {
            STEPS[path.pop()] = ++steps;
        }
    }

    private static void require(boolean holds, String what, ReplicaModel model, ReplicaStep step) {
        if (!holds) {
            throw new AssertionError(what + ": " + step + " in " + model);
        }
    }

    private static boolean either(IntPredicate cache) {
        return cache.test(0) || cache.test(1);
    }

    private static boolean isRead(ReplicaModel model, int cache, Condition disk) {
        return model.isRead(cache) && model.disks[cache] == disk;
    }

    private static boolean isPreferred(ReplicaModel model, int cache) {
        return model.wanted.preferred().contains(ReplicaModel.CACHES.get(cache));
    }

    private static boolean isHome(ReplicaModel model, int tree, int cache) {
        return tree == ReplicaModel.COMMON ? isPreferred(model, cache) : tree == cache;
    }

    /// Checks one decision.
    private static void checkStep(ReplicaModel model, ReplicaStep step) {
        boolean fails = either(cache -> isRead(model, cache, Condition.FAILING));
        require(
                fails == step instanceof ReplicaStep.Abandon,
                "a failing disk is left first, and nothing else",
                model,
                step);
        boolean corrupt = either(cache -> model.replicas[cache] == Replica.CORRUPT);
        require(
                (corrupt && !fails) == step instanceof ReplicaStep.Discard,
                "a corrupt replica is left next, and nothing else",
                model,
                step);
        ReplicaStep unseen = ReplicaDecision.decide(model.observed(false), model.wanted);
        boolean urgent = fails || corrupt || !either(cache -> model.disks[cache] != Condition.FAILING);
        require(
                urgent ? unseen.equals(step) : unseen instanceof ReplicaStep.Inspect,
                "disks are looked at before anything but leaving them",
                model,
                unseen);
        switch (step) {
            case ReplicaStep.Inspect _ -> require(false, "all was inspected", model, step);
            case ReplicaStep.Abandon(Path at) -> {
                require(isRead(model, cache(at), Condition.FAILING), "it is read and fails", model, step);
            }
            case ReplicaStep.Discard(Path at) -> {
                require(model.replicas[cache(at)] == Replica.CORRUPT, "it is corrupt", model, step);
            }
            case ReplicaStep.Verify(Path at) -> {
                require(model.hasReadableWhole(cache(at)), "it can be verified", model, step);
                require(model.replicas[cache(at)] != Replica.VERIFIED, "it has to be verified", model, step);
                require(!model.isRead(cache(at)) || !isServed(model), "it is to be used", model, step);
            }
            case ReplicaStep.Switch(ImageMountKey key, Path at) -> {
                int tree = ReplicaModel.tree(key);
                checkVerified(model, step, cache(at));
                require(model.isAttached(tree), "the tree is there", model, step);
                require(!either(home -> isHome(model, tree, home) && model.reads(tree, home)), "it stays", model, step);
                require(model.isRemote(tree) || isHome(model, tree, cache(at)), "it is better", model, step);
            }
            case ReplicaStep.Meet(Path at) -> checkVerified(model, step, cache(at));
            case ReplicaStep.Scrub(Path at) -> {
                require(model.isRead(cache(at)) && isServed(model), "all trees are served", model, step);
                require(model.replicas[cache(at)] != Replica.VERIFIED, "it has to be verified", model, step);
            }
            case ReplicaStep.FillCommon(List<Path> whole) -> {
                checkFill(model, step);
                require(model.wanted.anywhere(), "it is wanted", model, step);
                require(model.wanted.settlesAt().isBefore(ReplicaModel.NOW), "it is settled", model, step);
                require(whole.equals(readableWhole(model)), "what is there is known", model, step);
                IntPredicate home = cache -> isPreferred(model, cache) && model.isUsable(cache);
                require(whole.isEmpty() || either(home), "it is missing", model, step);
                require(whole.stream().noneMatch(there -> home.test(cache(there))), "it is missing there", model, step);
            }
            case ReplicaStep.FillAt(Path at) -> {
                checkFill(model, step);
                require(model.wanted.at().contains(at), "it is wanted", model, step);
                require(
                        model.isUsable(cache(at)) && !model.replicas[cache(at)].isWhole(),
                        "it is missing",
                        model,
                        step);
            }
            case ReplicaStep.WaitUntil _, ReplicaStep.Nothing _ ->
                require(isServed(model), "all is served", model, step);
        }
    }

    private static int cache(Path path) {
        return ReplicaModel.CACHES.indexOf(path);
    }

    private static List<Path> readableWhole(ReplicaModel model) {
        return IntStream.range(0, ReplicaModel.CACHES.size())
                .filter(model::hasReadableWhole)
                .mapToObj(ReplicaModel.CACHES::get)
                .toList();
    }

    private static void checkVerified(ReplicaModel model, ReplicaStep step, int cache) {
        require(model.hasReadableWhole(cache), "the disk works", model, step);
        require(model.replicas[cache] == Replica.VERIFIED, "the replica is verified", model, step);
    }

    private static void checkFill(ReplicaModel model, ReplicaStep step) {
        require(model.imageKnown, "the image is known", model, step);
        require(isServed(model), "no whole replica waits for its use", model, step);
        require(
                !either(cache -> model.isRead(cache) && model.replicas[cache] != Replica.VERIFIED),
                "no unverified replica serves",
                model,
                step);
    }

    /// Returns whether no tree has a better whole replica.
    private static boolean isServed(ReplicaModel model) {
        for (int each = 0; each <= ReplicaModel.COMMON; each++) {
            int tree = each;
            boolean home = either(cache -> isHome(model, tree, cache) && model.reads(tree, cache));
            boolean homeThere = either(cache -> isHome(model, tree, cache) && model.hasReadableWhole(cache));
            boolean remoteInVain = model.isRemote(tree) && either(model::hasReadableWhole);
            if (model.isAttached(tree) && !home && (homeThere || remoteInVain)) {
                return false;
            }
        }
        return true;
    }

    /// Checks what a step that succeeded has changed.
    private static void checkChange(ReplicaModel model, ReplicaStep step, ReplicaModel next) {
        require(next.canOccur(), "what follows can occur: " + next, model, step);
        require(next.situation() != model.situation(), "a step changes something", model, step);
        for (int cache : BOTH) {
            boolean left = model.isRead(cache)
                    && (model.disks[cache] == Condition.FAILING || model.replicas[cache] == Replica.CORRUPT);
            require(
                    !left || !next.isRead(cache) || either(other -> model.isRead(other) && !next.isRead(other)),
                    "nothing reads from it any more",
                    model,
                    step);
            edge(model.replicas[cache].shown(), next.replicas[cache].shown(), step);
        }
        for (int tree = 0; tree <= ReplicaModel.COMMON; tree++) {
            edge(place(model, tree), place(next, tree), step);
            require(model.isAttached(tree) == next.isAttached(tree), "no tree comes or goes", model, step);
        }
    }

    private static String place(ReplicaModel model, int tree) {
        return model.isRemote(tree)
                ? "CephFS"
                : model.reads(tree, 0) ? "ReplicaA" : model.reads(tree, 1) ? "ReplicaB" : "";
    }

    private static void edge(String from, String to, ReplicaStep step) {
        if (!from.equals(to)) {
            EDGES.computeIfAbsent(
                            from.replaceAll("[AB]$", "") + " --> " + to.replaceAll("[AB]$", ""), _ -> new TreeSet<>())
                    .add(step.getClass().getSimpleName());
        }
    }

    /// Checks a situation that nothing but a request, a retry or time ends.
    private static void checkEnd(ReplicaModel model, ReplicaStep step) {
        boolean stuck = step instanceof ReplicaStep.Abandon || step instanceof ReplicaStep.Discard;
        require(!stuck || !model.imageKnown, "only without the image's path a bad replica is read on", model, step);
        boolean full = step instanceof ReplicaStep.FillCommon;
        require(!full || (!either(model::takes) && readableWhole(model).isEmpty()), "no disk takes it", model, step);
        boolean unsettled = step instanceof ReplicaStep.WaitUntil(var end) && end.equals(model.wanted.settlesAt());
        boolean read = either(model::isRead);
        boolean missed = either(cache -> isMissed(model, cache));
        switch (step) {
            case ReplicaStep.WaitUntil(var end) -> {
                require(unsettled || read || missed, "there is something to wait for", model, step);
                require(unsettled || !missed || end.equals(ReplicaModel.RETRY), "a disk is tried again", model, step);
            }
            case ReplicaStep.Nothing _ -> {
                require(!read, "there is nothing to scrub", model, step);
                require(!missed, "no disk is tried again", model, step);
            }
            default -> require(stuck || full, "it failed", model, step);
        }
        if (stuck) {
            return;
        }
        require(isServed(model), "every tree reads the best replica", model, step);
        for (int cache : BOTH) {
            require(
                    !model.isRead(cache)
                            || (model.hasReadableWhole(cache) && model.replicas[cache] == Replica.VERIFIED),
                    "what is read is verified",
                    model,
                    step);
            boolean isWantedAt = model.wanted.at().contains(ReplicaModel.CACHES.get(cache));
            require(
                    !isWantedAt || !model.imageKnown || unsettled || !model.takes(cache),
                    "it is wanted there, and there is room",
                    model,
                    step);
        }
        require(
                !model.wanted.anywhere()
                        || !model.imageKnown
                        || unsettled
                        || full
                        || !readableWhole(model).isEmpty(),
                "it is wanted anywhere, and there is room",
                model,
                step);
        require(
                model.isAttached()
                        || !model.wanted.isAny()
                        || readableWhole(model).isEmpty()
                        || Arrays.asList(model.replicas).contains(Replica.VERIFIED),
                "what is wanted is verified, though no tree reads it",
                model,
                step);
    }

    /// Returns whether a disk would be used if it worked, or had room.
    private static boolean isMissed(ReplicaModel model, int cache) {
        if (model.isUsable(cache)) {
            return false;
        }
        boolean readElsewhere = IntStream.rangeClosed(0, ReplicaModel.COMMON)
                .filter(model::isAttached)
                .anyMatch(tree -> model.isRemote(tree) || isHome(model, tree, cache));
        return (model.disks[cache] == Condition.FAILING && readElsewhere)
                || model.wanted.at().contains(ReplicaModel.CACHES.get(cache));
    }

    @Test
    void everySituationThatCanOccurEndsWell() {
        int situations = 0;
        int longest = 0;
        for (byte steps : STEPS) {
            situations += steps > 0 ? 1 : 0;
            longest = Math.max(longest, steps - 1);
        }
        System.out.println(situations + " situations, at most " + longest + " steps; next step: " + TAKEN);
        assertEquals(SITUATIONS, situations);
        assertTrue(longest <= MOST_STEPS, () -> "steps to the end");
    }

    @Test
    void everyStepIsDecidedSomewhere() {
        Set<String> all = kinds().collect(Collectors.toCollection(TreeSet::new));
        all.remove("Inspect"); // decided where nothing was inspected
        assertEquals(all, TAKEN.keySet());
    }

    private static Stream<String> kinds() {
        return Arrays.stream(ReplicaStep.class.getPermittedSubclasses()).map(Class::getSimpleName);
    }

    @Test
    void theDocumentHasTheStepsInTheirOrder() throws IOException {
        assertEquals(
                kinds().toList(),
                Files.readAllLines(DiagramEdges.DOCUMENT).stream()
                        .map(ROW::matcher)
                        .filter(row -> row.matches())
                        .map(row -> row.group(1))
                        .toList());
    }

    @Test
    void theDiagramInTheDocumentIsWhatTheStepsDo() throws IOException {
        assertEquals(EDGES, DiagramEdges.in(DiagramEdges.DOCUMENT, EDGE));
    }
}

package dev.siphon.controller.warm;

import static dev.siphon.controller.warm.WarmWorld.NOW;
import static dev.siphon.controller.warm.WarmWorld.X;
import static dev.siphon.controller.warm.WarmWorld.anywhere;
import static dev.siphon.controller.warm.WarmWorld.failed;
import static dev.siphon.controller.warm.WarmWorld.filling;
import static dev.siphon.controller.warm.WarmWorld.local;
import static dev.siphon.controller.warm.WarmWorld.node;
import static dev.siphon.controller.warm.WarmWorld.on;
import static dev.siphon.controller.warm.WarmWorld.pod;
import static dev.siphon.controller.warm.WarmWorld.silent;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.warm.GatedDatasets.ReadDecision;
import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Where datasets are filled for waiting pods, and when the gate opens for them.
final class GateNodesTest {
    private static final GateSettings SETTINGS = new GateSettings(Duration.ofMinutes(10), 2);
    private static final Set<String> DATASETS = Set.of(X);

    /// What is the same for all pods.
    private record World(List<ClusterNode> nodes, List<OrderedReplica> replicas) {
        GateNodes.Decision decide(List<GatedPod> pods, Set<String> datasets) {
            ReadDecision reads = new ReadDecision.All(datasets);
            return new GateNodes(
                            new ObservedGates(
                                    NOW,
                                    nodes,
                                    replicas,
                                    WarmWorld.declared(X, "u1.y"),
                                    pods.stream().collect(Collectors.toMap(pod -> pod, _ -> reads))),
                            SETTINGS)
                    .decide();
        }
    }

    private static World gates(List<ClusterNode> nodes, OrderedReplica... replicas) {
        return new World(nodes, Arrays.asList(replicas));
    }

    private static GateVerdict only(World world, GatedPod pod) {
        GateNodes.Decision decision = world.decide(List.of(pod), DATASETS);
        assertEquals(Set.of(pod), decision.verdicts().keySet());
        return decision.verdicts().values().iterator().next();
    }

    private static Set<String> wanted(World world, GatedPod... pods) {
        return world.decide(Arrays.asList(pods), DATASETS).wanted().stream()
                .map(DatasetOnNode::node)
                .collect(Collectors.toSet());
    }

    private static GateVerdict.Open open(GateVerdict verdict, String result) {
        GateVerdict.Open open = assertInstanceOf(GateVerdict.Open.class, verdict, verdict::toString);
        assertEquals(result, open.result());
        return open;
    }

    private static List<String> opened(GateVerdict verdict, String result) {
        PodPlacement placement = open(verdict, result).placement();
        assertFalse(placement.isRequired(), "preferred");
        return placement.hostnames();
    }

    @Test
    void aDatasetIsFilledWhereMostGpusAreFree() {
        World world = gates(List.of(node("a", 8, 1), node("b", 8, 8), node("c", 8, 4), node("d", 8, 0)));
        assertEquals(Set.of("b", "c"), wanted(world, pod("p", 2, anywhere())));
        GateVerdict.Wait wait = assertInstanceOf(GateVerdict.Wait.class, only(world, pod("p", 2, anywhere())));
        assertTrue(wait.notice().message().contains("filled on b;"), wait.notice()::message);
    }

    @Test
    void whatIsBegunIsGoneOnWith() {
        List<ClusterNode> nodes = List.of(node("a", 8, 2), node("b", 8, 8), node("c", 8, 4));
        assertEquals(Set.of("a", "b"), wanted(gates(nodes, filling("a", 0)), pod("p", 2, anywhere())));
    }

    @Test
    void aPodIsLetGoWhenTheNodeThatItWillRunOnHasIt() {
        List<ClusterNode> nodes = List.of(node("a", 8, 2), node("b", 8, 8));
        assertEquals(
                List.of("host-a"),
                opened(only(gates(nodes, local("a"), filling("b", 50)), pod("p", 2, anywhere())), "warm"));
    }

    @Test
    void aNodeWithoutRoomIsNotWaitedForWhereAnotherHasRoom() {
        List<ClusterNode> nodes = List.of(node("a", 8, 0), node("b", 8, 8));
        assertInstanceOf(
                GateVerdict.Wait.class, only(gates(nodes, local("a"), filling("b", 50)), pod("p", 2, anywhere())));
        assertEquals(
                List.of("host-b", "host-a"),
                opened(only(gates(nodes, local("a"), local("b")), pod("p", 2, anywhere())), "warm"));
    }

    /// The scheduler keeps the queue.
    @Test
    void whereNoNodeHasRoomOneThatHasTheDatasetIsEnough() {
        List<ClusterNode> nodes = List.of(node("a", 8, 0), node("b", 8, 1));
        assertEquals(Set.of("a", "b"), wanted(gates(nodes), pod("p", 2, anywhere())));
        assertEquals(List.of("host-a"), opened(only(gates(nodes, local("a")), pod("p", 2, anywhere())), "warm"));
    }

    @Test
    void theNodesOfAJobAreFilledTogetherAndItsPodsLetGoTogether() {
        List<ClusterNode> nodes = List.of(node("a", 4, 4), node("b", 4, 4), node("c", 4, 4), node("d", 4, 4));
        GatedPod[] ranks = IntStream.range(0, 3)
                .mapToObj(rank -> pod("rank-" + rank, 4, anywhere()))
                .toArray(GatedPod[]::new);
        assertEquals(Set.of("a", "b", "c"), wanted(gates(nodes), ranks));
        World some = gates(nodes, local("a"), local("b"), filling("c", 90));
        some.decide(Arrays.asList(ranks), DATASETS)
                .verdicts()
                .values()
                .forEach(verdict -> assertInstanceOf(GateVerdict.Wait.class, verdict));
        World all = gates(nodes, local("a"), local("b"), local("c"));
        all.decide(Arrays.asList(ranks), DATASETS)
                .verdicts()
                .values()
                .forEach(verdict -> assertEquals(List.of("host-a", "host-b", "host-c"), opened(verdict, "warm")));
    }

    @Test
    void morePodsThanGpusWaitForTheNodesThereAre() {
        List<ClusterNode> nodes = List.of(node("a", 2, 2), node("b", 2, 2));
        List<GatedPod> pods = IntStream.range(0, 20)
                .mapToObj(index -> pod("p-" + index, 1, anywhere()))
                .toList();
        GateNodes.Decision decision = gates(nodes, local("a"), local("b")).decide(pods, DATASETS);
        assertEquals(20, decision.verdicts().size());
        decision.verdicts().values().forEach(verdict -> opened(verdict, "warm"));
    }

    @Test
    void aPodThatNoNodeSuitsIsLetGoAtOnce() {
        World world = gates(List.of(node("a", 8, 8)));
        assertEquals(List.of(), opened(only(world, pod("p", 16, anywhere())), "unsuited"));
        assertEquals(List.of(), opened(only(world, pod("p", 1, on("b"))), "unsuited"));
        assertEquals(Set.of(), wanted(world, pod("p", 1, on("b"))));
    }

    @Test
    void aNodeThatCannotHaveItTriesAgainBesideTheChosenOnes() {
        List<ClusterNode> nodes = List.of(node("a", 8, 8), node("b", 8, 4), node("c", 8, 2));
        assertEquals(Set.of("a", "b", "c"), wanted(gates(nodes, failed("a", "disk full")), pod("p", 2, anywhere())));
        assertEquals(Set.of("a", "b", "c"), wanted(gates(nodes, silent("a", 60)), pod("p", 2, anywhere())));
        assertEquals(Set.of("a", "b"), wanted(gates(nodes, silent("a", 5)), pod("p", 2, anywhere())));
    }

    @Test
    void whereNoNodeCanHaveItAPodWaitsAMomentAndIsToldWhy() {
        World world = gates(List.of(node("a", 8, 8)), failed("a", "disk full"));
        assertInstanceOf(GateVerdict.Wait.class, only(world, pod("p", 1, anywhere(), 10)));
        GateVerdict.Open verdict = open(only(world, pod("p", 1, anywhere(), 31)), "failed");
        assertEquals(List.of(), verdict.placement().hostnames());
        assertTrue(verdict.notice().message().endsWith("node a: disk full"), verdict.notice()::message);
        assertEquals(Set.of("a"), wanted(world, pod("p", 1, anywhere(), 10)), "it is tried again");
    }

    @Test
    void nobodyWaitsForEver() {
        World world = gates(List.of(node("a", 8, 8)), filling("a", 43));
        assertInstanceOf(GateVerdict.Wait.class, only(world, pod("p", 1, anywhere(), 599)));
        GateVerdict.Open verdict = open(only(world, pod("p", 1, anywhere(), 601)), "late");
        assertEquals(List.of(), verdict.placement().hostnames());
        assertTrue(verdict.notice().message().contains("a 43 %"), verdict.notice()::message);
        assertEquals(List.of(), opened(only(gates(List.of(node("a", 8, 8))), pod("p", 1, anywhere(), 601)), "late"));
    }

    @Test
    void ofTwoDatasetsBothAreWaitedFor() {
        Set<String> both = Set.of(X, "u1.y");
        GatedPod pod = pod("p", 1, anywhere());
        GateNodes.Decision decision =
                gates(List.of(node("a", 8, 8)), local("a")).decide(List.of(pod), both);
        assertEquals(Set.of(new DatasetOnNode(X, "a"), new DatasetOnNode("u1.y", "a")), decision.wanted());
        assertInstanceOf(GateVerdict.Wait.class, decision.verdicts().get(pod));
    }

    /// Once it is late, no node may ever have its datasets.
    @Test
    void aPodThatRequiresItsDatasetsRunsWhereTheyAreUnlessItIsLate() {
        World here = gates(List.of(node("a", 8, 8)), local("a"));
        GateVerdict.Open open = open(only(here, requiring("p", anywhere(), 10)), "warm");
        assertEquals(new PodPlacement(List.of("host-a"), true), open.placement());
        assertTrue(open.notice().message().endsWith("; the pod may run nowhere else"), open.notice()::message);

        assertEquals(
                new PodPlacement(List.of("host-a"), false),
                open(only(here, requiring("p", anywhere(), 601)), "warm").placement());
        assertEquals(
                PodPlacement.ANYWHERE,
                open(only(gates(List.of(node("a", 8, 8)), filling("a", 50)), requiring("p", anywhere(), 601)), "late")
                        .placement());
    }

    /// The nodes of a group suit not all of its pods: b is full, so a alone is waited for.
    @Test
    void aPodRequiresOnlyNodesThatSuitIt() {
        World world = gates(List.of(node("a", 8, 8), node("b", 8, 0)), local("a"));
        GatedPod first = requiring("first", on("a"), 20);
        GatedPod second = requiring("second", on("b"), 10);
        GateNodes.Decision decision = world.decide(List.of(first, second), DATASETS);

        assertEquals(
                new PodPlacement(List.of("host-a"), true),
                open(Objects.requireNonNull(decision.verdicts().get(first)), "warm")
                        .placement());
        assertInstanceOf(GateVerdict.Wait.class, decision.verdicts().get(second));
    }

    private static GatedPod requiring(String name, NodeRules rules, int waited) {
        return asking(pod(name, 1, rules, waited), Optional.empty(), true);
    }

    /// Returns a copy of a pod with other annotations.
    private static GatedPod asking(GatedPod pod, Optional<Duration> patience, boolean isPlacementRequired) {
        return new GatedPod(
                pod.namespace(),
                pod.name(),
                pod.uid(),
                pod.version(),
                pod.since(),
                patience,
                isPlacementRequired,
                pod.group(),
                pod.needs(),
                true,
                pod.rules(),
                pod.uses());
    }

    /// What is filled for the pod would occupy the disk for just as long.
    @Test
    void aPodThatWantsToWaitForYearsWaitsForADay() {
        GatedPod pod = pod("p", 1, anywhere(), 24 * 3_600 + 1);
        GatedPod patient = asking(pod, Optional.of(Duration.ofHours(9_999_999)), false);
        assertEquals(List.of(), opened(only(gates(List.of(node("a", 8, 8)), filling("a", 50)), patient), "late"));
    }
}

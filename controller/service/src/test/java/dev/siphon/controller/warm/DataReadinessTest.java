package dev.siphon.controller.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.warm.DataReadiness.Reason;
import dev.siphon.controller.warm.WarmupCluster.Notice;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The sentences of `siphon why` and of the condition.
final class DataReadinessTest {
    private static final Set<String> X = Set.of(WarmWorld.X);

    private static void assertSays(Reason reason, String sentence, DataReadiness readiness) {
        assertEquals(new DataReadiness(reason, sentence), readiness);
    }

    @Test
    void atTheGateItSaysHowFarEachReplicaIsAndHowLongThePodWaits() {
        assertSays(
                Reason.WAITS_AT_GATE,
                "waits at the gate for dataset u1.x: 43 % on node a, failed: disk full on node b; it waits until"
                        + " 2026-01-01T13:00:00Z at most, and then starts and reads from CephFS; nothing to do, or remove"
                        + " the gate from the pod to start it at once",
                DataReadiness.atGate(
                        X,
                        List.of(
                                WarmWorld.filling("a", 43),
                                WarmWorld.failed("b", "disk full"),
                                WarmWorld.unordered(WarmWorld.filling("c", 1))),
                        Optional.of("2026-01-01T13:00:00Z")));
    }

    @Test
    void aReplicaThatIsWholeCountsEvenIfNobodyOrdersIt() {
        assertTrue(DataReadiness.atGate(X, List.of(WarmWorld.unordered(WarmWorld.local("a"))), Optional.empty())
                .sentence()
                .contains(": whole on node a; it waits as long as its annotation siphon.dev/max-wait"));
    }

    @Test
    void ofManyReplicasItNamesFive() {
        String sentence = DataReadiness.atGate(
                        X,
                        IntStream.range(0, 9)
                                .mapToObj(node -> WarmWorld.filling("node-" + node, 1))
                                .toList(),
                        Optional.empty())
                .sentence();

        assertTrue(sentence.contains("1 % on node node-4 and 4 more; it waits"), sentence);
    }

    @Test
    void ofManyDatasetsItNamesFive() {
        String sentence =
                DataReadiness.onNode("a", datasets(160, 10), List.of()).sentence();

        assertTrue(sentence.contains(" and 155 more from CephFS"), sentence);
    }

    @Test
    void aSentenceIsCut() {
        assertEquals(
                "x...",
                DataReadiness.onNode("a", datasets(160, 200), List.of())
                        .sentence()
                        .substring(999));
        assertEquals(662, DataReadiness.closed("x".repeat(1_000)).sentence().length(), "600 characters of the event");
    }

    private static Set<String> datasets(int number, int length) {
        return IntStream.range(0, number)
                .mapToObj(each -> "u1." + "x".repeat(length) + each)
                .collect(Collectors.toSet());
    }

    @Test
    void aGateThatStaysClosedSaysWhy() {
        assertSays(
                Reason.GATE_CLOSED,
                "waits at the gate, which stays closed until somebody acts: no reader: a [2Jb",
                DataReadiness.closed("no reader: a\u001b[2Jb"));
    }

    @Test
    void anOpenGateSaysWhetherTheDataIsThere() {
        assertSays(
                Reason.ON_DISK,
                "passed the gate: it is on a disk",
                DataReadiness.passed(new Notice(false, "DatasetWarm", "it is on a disk")));
        assertSays(
                Reason.READS_FROM_CEPHFS,
                "passed the gate: it is late",
                DataReadiness.passed(new Notice(true, "DatasetNotWarm", "it is late")));
    }

    @Test
    void onANodeOnlyThatNodesReplicasCount() {
        assertSays(
                Reason.ON_DISK,
                "reads dataset u1.x from a disk of node a",
                DataReadiness.onNode("a", X, List.of(WarmWorld.local("a"), WarmWorld.filling("b", 1))));
        assertSays(
                Reason.READS_FROM_CEPHFS,
                "reads dataset u1.x from CephFS until it is whole on a disk: 1 % on node b; the pod runs meanwhile,"
                        + " however long that takes; nothing to do, unless a fill fails",
                DataReadiness.onNode("b", X, List.of(WarmWorld.local("a"), WarmWorld.filling("b", 1))));
    }

    @Test
    void onANodeAllDatasetsCount() {
        DataReadiness half = DataReadiness.onNode("a", Set.of(WarmWorld.X, "u1.y"), List.of(WarmWorld.local("a")));

        assertEquals(Reason.READS_FROM_CEPHFS, half.reason());
        assertTrue(half.sentence().contains("no replica is ordered on node a, but it may fill one"), half.sentence());
    }
}

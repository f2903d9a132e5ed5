package dev.siphon.controller.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.warm.DataConditions.GateRound;
import dev.siphon.controller.warm.DataReadiness.Reason;
import dev.siphon.controller.warm.GatedDatasets.ReadDecision;
import dev.siphon.controller.warm.WarmupCluster.Notice;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Which conditions are written, and how often.
final class DataConditionsTest {
    private static final GatedPod POD = WarmWorld.pod("p", 1, WarmWorld.anywhere());
    private static final ReadDecision READS_X = new ReadDecision.All(Set.of(WarmWorld.X));
    private static final Notice WARMING = new Notice(false, "DatasetWarming", "it is being filled");
    private static final Notice WARM = new Notice(false, "DatasetWarm", "it is on a disk");

    private final Pods pods = new Pods();
    private final Map<String, Shared> declared =
            Map.of(WarmWorld.X, new Shared(WarmWorld.volume(WarmWorld.X), false, new TreeSet<>(List.of("u1"))));
    private Instant now = WarmWorld.NOW;
    private DataConditions conditions = leader();

    private DataConditions leader() {
        return new DataConditions(pods, new GateSettings(Duration.ofMinutes(10), 1), () -> declared, () -> now);
    }

    /// What was written for a pod.
    private record Written(String pod, Reason reason, Optional<Instant> since) {}

    /// The pods of an API server that may fail.
    private static final class Pods implements PodConditions {
        final List<Written> written = new ArrayList<>();
        final List<String> sentences = new ArrayList<>();
        final List<PodOnNode> onNodes = new ArrayList<>();
        Optional<DriverException> failure = Optional.empty();
        int attempts;
        int asked;

        @Override
        public List<PodOnNode> onNodes(Set<String> nodes, Set<VolumeId.DatasetVolume> volumes) {
            asked++;
            return onNodes.stream()
                    .filter(pod -> pod.isReady().isPresent() || nodes.contains(pod.node()))
                    .toList();
        }

        @Override
        public boolean write(PodIdentity pod, DataReadiness readiness, Optional<Instant> since) {
            attempts++;
            if (failure.isPresent()) {
                throw failure.get();
            }
            written.add(new Written(pod.name(), readiness.reason(), since));
            sentences.add(readiness.sentence());
            return true;
        }
    }

    private void gate(GatedPod pod, GateVerdict verdict, Notice notice, OrderedReplica... replicas) {
        conditions.seen(new GateRound(
                Map.of(pod, READS_X), Map.of(pod, verdict), Map.of(pod, notice), List.of(replicas), Optional.empty()));
    }

    private void waits(OrderedReplica... replicas) {
        gate(POD, new GateVerdict.Wait(WARMING), WARMING, replicas);
    }

    private void opens(Notice notice, OrderedReplica... replicas) {
        gate(POD, new GateVerdict.Open(PodPlacement.ANYWHERE, "warm", notice), notice, replicas);
    }

    private void empty(OrderedReplica... replicas) {
        conditions.seen(new GateRound(Map.of(), Map.of(), Map.of(), List.of(replicas), Optional.empty()));
    }

    private void later(Duration time) {
        now = now.plus(time);
        conditions.write();
    }

    private void runs(String node, Optional<Boolean> isReady) {
        pods.onNodes.clear();
        pods.onNodes.add(new PodConditions.PodOnNode(
                PodConditions.PodIdentity.of(POD), node, Set.of(WarmWorld.volume(WarmWorld.X)), isReady));
    }

    private void assertWritten(Written... all) {
        assertEquals(List.of(all), pods.written);
    }

    private static Written written(Reason reason, Instant since) {
        return new Written("p", reason, Optional.of(since));
    }

    @Test
    void aPodAtTheGateIsToldHowFarItsDatasetIs() {
        waits(WarmWorld.filling("a", 43));
        conditions.write();

        assertWritten(written(Reason.WAITS_AT_GATE, POD.since()));
        assertTrue(
                pods.sentences
                        .getFirst()
                        .contains(
                                "43 % on node a; it waits until " + POD.since().plusSeconds(600)),
                pods.sentences.getFirst());
    }

    /// With turns, the gate's round has asked for all pods, also those on nodes where nothing is filled.
    @Test
    void thePodsThatTheGateHasReadAreNotAskedForAgain() {
        runs("a", Optional.empty());
        List<PodConditions.PodOnNode> pod = List.copyOf(pods.onNodes);
        conditions.seen(new GateRound(Map.of(), Map.of(), Map.of(), List.of(WarmWorld.local("a")), Optional.of(pod)));
        conditions.write();
        assertEquals(List.of(), pods.written);
        conditions.seen(
                new GateRound(Map.of(), Map.of(), Map.of(), List.of(WarmWorld.filling("a", 43)), Optional.of(pod)));
        conditions.write();
        assertEquals(1, pods.written.size());
        assertEquals(0, pods.asked);
        assertEquals(Set.of(new OrderedReplica.DatasetOnNode(WarmWorld.X, "a")), DataConditions.used(pod, declared));
    }

    @Test
    void theSameSentenceIsWrittenOnce() {
        waits(WarmWorld.filling("a", 43));
        conditions.write();
        later(Duration.ofHours(1));

        assertEquals(1, pods.attempts);
    }

    @Test
    void progressIsWrittenEveryTenSecondsAtMost() {
        for (int second = 0; second < 30; second++) {
            waits(WarmWorld.filling("a", second));
            conditions.write();
            now = now.plusSeconds(1);
        }

        assertEquals(3, pods.attempts);
    }

    @Test
    void ofManyPodsTenAreWrittenAtOnceAndThoseWithNewsFirst() {
        Map<GatedPod, ReadDecision> reads = new HashMap<>();
        IntStream.range(0, 25).forEach(each -> reads.put(WarmWorld.pod("p" + each, 1, WarmWorld.anywhere()), READS_X));
        conditions.seen(new GateRound(reads, Map.of(), Map.of(), List.of(WarmWorld.filling("a", 1)), Optional.empty()));
        conditions.write();
        assertEquals(10, pods.attempts);
        later(Duration.ofSeconds(1));
        later(Duration.ofSeconds(1));
        assertEquals(25, pods.attempts);

        now = now.plus(DataConditions.PAUSE);
        GatedPod refused = WarmWorld.pod("p24", 1, WarmWorld.anywhere());
        reads.put(refused, new ReadDecision.Cannot("no reader"));
        conditions.seen(new GateRound(reads, Map.of(), Map.of(), List.of(WarmWorld.filling("a", 2)), Optional.empty()));
        conditions.write();

        assertEquals(35, pods.attempts);
        assertEquals(new Written("p24", Reason.GATE_CLOSED, Optional.of(refused.since())), pods.written.get(25));
    }

    @Test
    void aPodThatPassesTheGateIsToldSoAndNotThatItWaits() {
        waits(WarmWorld.filling("a", 43));
        conditions.write();
        opens(WARM, WarmWorld.local("a"));
        Instant opened = now;
        later(Duration.ofSeconds(9));
        assertEquals(1, pods.attempts, "too soon");
        later(Duration.ofSeconds(1));
        empty(WarmWorld.local("a"));
        later(Duration.ofMinutes(1));

        assertWritten(written(Reason.WAITS_AT_GATE, POD.since()), written(Reason.ON_DISK, opened));
    }

    @Test
    void whatPassedTheGateIsToldEvenIfItRunsAlready() {
        opens(WARM, WarmWorld.local("a"));
        runs("a", Optional.empty());
        conditions.write();
        empty(WarmWorld.local("a"));
        runs("a", Optional.of(true));
        later(Duration.ofMinutes(1));
        later(Duration.ofMinutes(1));

        assertWritten(written(Reason.ON_DISK, WarmWorld.NOW), new Written("p", Reason.ON_DISK, Optional.empty()));
        assertEquals(
                List.of("passed the gate: it is on a disk", "reads dataset u1.x from a disk of node a"),
                pods.sentences);
    }

    @Test
    void aGateThatCannotBeOpenedIsClosed() {
        Notice refused = new Notice(true, "GateNotOpened", "a policy refuses");
        gate(POD, new GateVerdict.Open(PodPlacement.ANYWHERE, "warm", WARM), refused);
        conditions.write();

        assertWritten(written(Reason.GATE_CLOSED, POD.since()));
    }

    @Test
    void aPodWithoutDatasetsIsToldNothing() {
        Notice none = new Notice(false, "DatasetWarm", "no dataset");
        conditions.seen(new GateRound(
                Map.of(POD, new ReadDecision.Nothing(none)),
                Map.of(POD, new GateVerdict.Open(PodPlacement.ANYWHERE, "nothing", none)),
                Map.of(POD, none),
                List.of(),
                Optional.empty()));
        conditions.write();

        assertEquals(0, pods.attempts);
    }

    @Test
    void aRunningPodIsFollowedUntilItsDatasetIsOnItsDisk() {
        runs("a", Optional.of(false));
        empty(WarmWorld.filling("a", 10));
        conditions.write();
        empty(WarmWorld.local("a"));
        later(Duration.ofSeconds(10));
        runs("a", Optional.of(true));
        later(Duration.ofSeconds(10));

        assertWritten(
                new Written("p", Reason.READS_FROM_CEPHFS, Optional.empty()),
                written(Reason.ON_DISK, WarmWorld.NOW.plusSeconds(10)));
    }

    @Test
    void aPodWithoutTheGateIsToldWhileItsDatasetIsFilled() {
        runs("a", Optional.empty());
        empty(WarmWorld.local("a"));
        conditions.write();
        assertEquals(0, pods.attempts, "it was never filled for it");
        empty(WarmWorld.filling("a", 10));
        conditions.write();

        assertWritten(written(Reason.READS_FROM_CEPHFS, now));
    }

    @Test
    void aPodOnAnotherNodeThanWasFilledIsNotReady() {
        runs("b", Optional.of(true));
        empty(WarmWorld.local("a"));
        conditions.write();

        assertWritten(written(Reason.READS_FROM_CEPHFS, now));
    }

    @Test
    void aNewLeaderWritesNothingBeforeItKnowsTheReplicasAndLeavesReadyPods() {
        runs("a", Optional.of(true));
        conditions.write();
        assertEquals(0, pods.attempts, "no round of the gate yet");
        empty(WarmWorld.local("a"));
        conditions.write();

        assertEquals(0, pods.attempts);
    }

    @Test
    void whereTheServerRefusesThreeAreTriedAndEachAgainAfterAPause() {
        Map<GatedPod, ReadDecision> reads = new HashMap<>();
        IntStream.range(0, 25).forEach(each -> reads.put(WarmWorld.pod("p" + each, 1, WarmWorld.anywhere()), READS_X));
        conditions.seen(new GateRound(reads, Map.of(), Map.of(), List.of(), Optional.empty()));
        pods.failure = Optional.of(new DriverException.AccessDenied("pods/status"));
        conditions.write();
        assertEquals(3, pods.attempts);

        pods.failure = Optional.empty();
        later(DataConditions.PAUSE);
        later(DataConditions.PAUSE);
        later(DataConditions.PAUSE);

        assertEquals(25, pods.written.size());
    }
}

package dev.siphon.node.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.DatasetReplica.State;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.replica.FillStage;
import dev.siphon.node.replica.ReplicaState;
import dev.siphon.node.replica.ReplicaStatus;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// What a node reports of a replica. Only a fill that runs is one.
final class ReplicaOrderReportTest {
    private static final Path CACHE = Path.of("/cache");
    private static final ReplicaState PART = new ReplicaState.Filling(43, CACHE);
    private static final ReplicaState NOTHING = new ReplicaState.Remote();

    private static Report report(ReplicaState state, FillStage stage) {
        return ReplicaOrderWorker.report(new ReplicaStatus(
                new Digest("a".repeat(64)),
                state,
                stage,
                100,
                4_096,
                Optional.empty(),
                false,
                Optional.empty(),
                Optional.of("an earlier problem")));
    }

    @Test
    void aPartIsFilledOnlyWhileItsFillRuns() {
        assertEquals(Report.filling(43, 100, "/cache").withProgress(4_096), report(PART, new FillStage.Running()));
        assertEquals(Report.of(State.ABSENT).withPart(43, 100, "/cache"), report(PART, new FillStage.Idle()));
        assertEquals(Report.of(State.WAITING).withPart(43, 100, "/cache"), report(PART, new FillStage.Due()));
        assertEquals(Report.failed("no key").withPart(43, 100, "/cache"), report(PART, new FillStage.Failed("no key")));
    }

    @Test
    void whereNoPartIsYetTheStageIsReported() {
        assertEquals(Report.of(State.ABSENT), report(NOTHING, new FillStage.Idle()));
        assertEquals(Report.of(State.WAITING), report(NOTHING, new FillStage.Due()));
        assertEquals(Report.of(State.WAITING), report(NOTHING, new FillStage.Running()));
        assertEquals(Report.failed("no room"), report(NOTHING, new FillStage.Failed("no room")));
    }

    @Test
    void waitsAndWholeReplicasAreReported() {
        assertEquals(Report.queued(43, 2), report(new ReplicaState.Queued(43, 2), new FillStage.Queued(2)));
        assertEquals(Report.local(100, "/cache"), report(new ReplicaState.Local(CACHE), new FillStage.Due()));
    }
}

package dev.siphon.controller.warm;

import static dev.siphon.controller.warm.WarmWorld.NOW;
import static dev.siphon.controller.warm.WarmWorld.filling;
import static dev.siphon.controller.warm.WarmWorld.local;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.warm.DataCheck.Settings;
import dev.siphon.controller.warm.QueuedWorkload.CheckState;
import dev.siphon.controller.warm.QueuedWorkload.Phase;
import dev.siphon.controller.warm.QueuedWorkload.Release;
import dev.siphon.controller.warm.QueuedWorkload.State;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Workloads of Kueue that give their quota back while their data loads, round by round.
final class ReleasedWorkloadsTest extends AdmissionRounds {
    private static QueuedWorkload released(Phase phase, int seconds, int pods) {
        QueuedWorkload before = workload("w", phase, seconds, pods);
        return with(before, Optional.of(new Release(before.since(), Optional.of(NOW.minusSeconds(seconds + 10)))));
    }

    private static QueuedWorkload with(QueuedWorkload before, Optional<Release> release) {
        return with(before, release, before.checks());
    }

    private static QueuedWorkload with(
            QueuedWorkload before, Optional<Release> release, Map<String, CheckState> checks) {
        return new QueuedWorkload(
                before.namespace(),
                before.name(),
                before.uid(),
                before.version(),
                before.phase(),
                before.since(),
                release,
                checks,
                before.podSets());
    }

    private void releasing() {
        queue.set(new Settings(Optional.empty(), Optional.empty(), false, true));
    }

    @Test
    void othersUseTheQuotaWhileTheDataLoads() {
        releasing();
        queue.workloads = List.of(reserved("w"));
        var _ = round(0, filling("a", 1));
        var _ = round(6, filling("a", 2));
        assertEquals("w released, waiting since " + NOW.minusSeconds(5), queue.told.getLast());

        queue.workloads = List.of(released(Phase.LEAVING, 0, 1));
        assertEquals(Set.of("a", "b"), round(7, filling("a", 3)), "Kueue has not evicted it yet");
        queue.workloads = List.of(released(Phase.RELEASED, 0, 1));
        assertEquals(Set.of("a", "b"), round(20, filling("a", 50), filling("b", 0)));
        assertTrue(
                queue.told
                        .getLast()
                        .startsWith(
                                "w Pending: others may use its quota until its data is there: dataset u1.x: 0 of 1"),
                queue.told::toString);

        var _ = round(21, local("a"), filling("b", 0));
        assertEquals("w resumed with its data", queue.told.getLast());
    }

    @Test
    void aFillThatIsSoonOverKeepsTheQuota() {
        releasing();
        queue.workloads = List.of(reserved("w"));
        for (int second = 0; second < 20; second++) {
            var _ = round(second, filling("a", 5 * second), filling("b", 0));
        }
        assertTrue(queue.told.stream().noneMatch(each -> each.contains("released")), queue.told::toString);
    }

    /// Those that run there now have the room, and end before it.
    @Test
    void aReleasedWorkloadStaysWithItsNodes() {
        releasing();
        queue.workloads = List.of(released(Phase.RELEASED, 5, 1));
        assertEquals(Set.of("c", "a"), round(0, filling("c", 90)), "no GPU of c is free now");
        var _ = round(1, local("c"), filling("a", 0));
        assertEquals("w resumed with its data", queue.told.getLast());
    }

    @Test
    void theLongestWaitCountsFromTheBeginThatTheObjectTells() {
        releasing();
        queue.workloads = List.of(released(Phase.RELEASED, 595, 1));

        assertEquals(Set.of(), round(0, filling("a", 20)));
        assertEquals(List.of("w resumed"), queue.told);
        queue.workloads = List.of(with(
                workload("w", Phase.RESERVED, 1, 1),
                Optional.of(new Release(NOW.minusSeconds(595), Optional.of(NOW.minusSeconds(605))))));
        var _ = round(1, filling("a", 20));
        assertTrue(queue.told.getLast().startsWith("w Ready: its longest wait is over"), queue.told::toString);
    }

    @Test
    void aBeginInTheFutureEndsTheWait() {
        releasing();
        queue.workloads = List.of(with(
                workload("w", Phase.RELEASED, 1, 1),
                Optional.of(new Release(NOW, Optional.of(NOW.plus(Duration.ofDays(9)))))));

        assertEquals(Set.of(), round(0));
        assertEquals(List.of("w resumed"), queue.told);
    }

    @Test
    void whoHadItsDataOnceWaitsAnewAndKeepsItsQuota() {
        releasing();
        queue.workloads = List.of(with(
                workload("w", Phase.RESERVED, 100, 1),
                Optional.of(new Release(NOW.minus(Duration.ofHours(5)), Optional.empty()))));
        var _ = round(0, filling("a", 1));
        assertTrue(queue.told.getLast().startsWith("w Pending: dataset"), queue.told::toString);
    }

    @Test
    void withoutTheCheckTheQuotaIsAskedForAgain() {
        queue.workloads = List.of(released(Phase.RELEASED, 5, 1));
        var _ = round(0, filling("a", 20));
        assertEquals(List.of("w resumed"), queue.told, "its check says hold");

        queue.told.clear();
        QueuedWorkload before = released(Phase.RELEASED, 5, 1);
        queue.workloads = List.of(with(before, before.release(), Map.of()));
        var _ = round(1, filling("a", 20));
        assertEquals(List.of("w resumed"), queue.told, "its queue has no check");
    }

    @Test
    void whatSomebodyActivatedIsTheirs() {
        releasing();
        queue.workloads = List.of(released(Phase.REACTIVATED, 5, 1));

        assertEquals(Set.of(), round(0, filling("a", 20)));
        assertEquals(List.of("w resumed"), queue.told, "which only removes the note");
    }

    @Test
    void whatAnotherCheckRejectedIsKueues() {
        releasing();
        QueuedWorkload before = workload("w", Phase.RESERVED, 15, 1);
        queue.workloads = List.of(with(
                before,
                before.release(),
                Map.of(
                        "check", new CheckState(State.PENDING, "", ""),
                        "budget", new CheckState(State.REJECTED, "", ""))));

        var _ = round(0, filling("a", 1));
        assertEquals(List.of(), queue.told);
    }
}

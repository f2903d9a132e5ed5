package dev.siphon.controller.warm;

import static dev.siphon.controller.warm.WarmWorld.NOW;
import static dev.siphon.controller.warm.WarmWorld.filling;
import static dev.siphon.controller.warm.WarmWorld.local;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.warm.DataCheck.Parameters;
import dev.siphon.controller.warm.DataCheck.Settings;
import dev.siphon.controller.warm.QueuedWorkload.CheckState;
import dev.siphon.controller.warm.QueuedWorkload.Phase;
import dev.siphon.controller.warm.QueuedWorkload.Release;
import dev.siphon.controller.warm.QueuedWorkload.State;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Workloads of Kueue that give their quota back while their data loads, round by round.
final class ReleasedWorkloadsTest extends AdmissionRounds {
    private static QueuedWorkload released(Phase phase, int seconds, int pods) {
        QueuedWorkload before = workload("w", phase, seconds, pods);
        return with(before, Optional.of(new Release(before.since(), Optional.of(NOW.minusSeconds(seconds + 10)))));
    }

    private static QueuedWorkload with(QueuedWorkload before, Optional<Release> release) {
        return changed(
                before, release, before.clusterQueue(), before.isReleasable(), before.checks(), before.forgotten());
    }

    private static QueuedWorkload of(Optional<String> clusterQueue, QueuedWorkload before) {
        return changed(
                before, before.release(), clusterQueue, before.isReleasable(), before.checks(), before.forgotten());
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
        assertEquals("w released, waiting since " + NOW.minusSeconds(5) + " for [check]", queue.told.getLast());

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
        assertEquals("w resumed", queue.told.getLast());
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
        assertEquals("w resumed", queue.told.getLast());
    }

    @Test
    void theLongestWaitCountsFromTheBeginThatTheObjectTells() {
        releasing();
        queue.workloads = List.of(released(Phase.RELEASED, 595, 1));

        assertEquals(Set.of(), round(0, filling("a", 20)));
        assertEquals(List.of("w resumed, as its longest wait is over"), queue.told);
        queue.workloads = List.of(with(
                workload("w", Phase.RESERVED, 1, 1),
                Optional.of(new Release(NOW.minusSeconds(595), Optional.of(NOW.minusSeconds(605))))));
        var _ = round(1, filling("a", 20));
        assertTrue(queue.told.getLast().startsWith("w Ready: its longest wait is over"), queue.told::toString);
    }

    private static QueuedWorkload lateOnce(int reserved, Optional<Instant> waitingSince) {
        return with(workload("w", Phase.RESERVED, reserved, 1), Optional.of(new Release(NOW, waitingSince)));
    }

    /// Kueue deactivates what is Rejected, and whoever corrected it activates it.
    @Test
    void afterItsRejectionItWaitsAnew() {
        queue.set(new Settings(Optional.empty(), Optional.empty(), true, true));
        queue.workloads = List.of(lateOnce(1, Optional.of(NOW.minusSeconds(605))));
        var _ = round(0, filling("a", 20));
        assertEquals(List.of("w resumed"), queue.told, "which removes the begin of its wait");

        queue.workloads = List.of(lateOnce(1, Optional.empty()));
        var _ = round(1, filling("a", 20));
        assertTrue(queue.told.getLast().startsWith("w Rejected: its longest wait is over"), queue.told::toString);

        queue.workloads = List.of();
        var _ = round(2);
        queue.workloads = List.of(lateOnce(-100, Optional.empty()));
        var _ = round(699, filling("a", 20));
        assertTrue(queue.told.getLast().startsWith("w Pending: dataset u1.x"), queue.told::toString);
        var _ = round(701, filling("a", 20));
        assertTrue(queue.told.getLast().startsWith("w Rejected: its longest wait is over"), queue.told::toString);
    }

    @Test
    void whoWritesTheBeginAgainHoldsNoQuotaByIt() {
        queue.set(new Settings(Optional.empty(), Optional.empty(), true, true));
        queue.workloads = List.of(lateOnce(1, Optional.of(NOW.minusSeconds(605))));
        for (int second = 0; second < 60; second++) {
            var _ = round(second, filling("a", 20));
        }
        assertEquals(Set.of("w resumed"), Set.copyOf(queue.told));

        var _ = round(60, filling("a", 20));
        assertTrue(queue.told.getLast().startsWith("w Rejected: its longest wait is over"), queue.told::toString);
    }

    /// No leader was there when it got its quota; or an administrator made the wait longer, and that is over too.
    @Test
    void aWaitIsForgottenHoweverLongAgoTheQuotaWasReserved() {
        for (int reserved : List.of(70, 7_000)) {
            queue.told.clear();
            queue.set(new Settings(Optional.empty(), Optional.empty(), true, true));
            queue.workloads = List.of(lateOnce(reserved, Optional.of(NOW.minusSeconds(9_000))));
            var _ = round(0, filling("a", 20));
            assertEquals(List.of("w resumed"), queue.told);
            queue.workloads = List.of();
            var _ = round(1);
        }
    }

    @Test
    void aBeginInTheFutureEndsTheWait() {
        releasing();
        queue.workloads = List.of(with(
                workload("w", Phase.RELEASED, 1, 1),
                Optional.of(new Release(NOW, Optional.of(NOW.plus(Duration.ofDays(9)))))));

        assertEquals(Set.of(), round(0));
        assertEquals(List.of("w resumed, as its longest wait is over"), queue.told);
    }

    /// Without a time when its data began to load, that of its release counts.
    @Test
    void aReleaseInTheFutureEndsTheWait() {
        releasing();
        QueuedWorkload before = workload("w", Phase.RELEASED, -9 * 24 * 3600, 1);
        queue.workloads = List.of(with(before, Optional.of(new Release(before.since(), Optional.empty()))));

        var _ = round(0, filling("a", 20));
        assertEquals(List.of("w resumed, as its longest wait is over"), queue.told);
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
        queue.workloads = List.of(checked(released(Phase.RELEASED, 5, 1), Map.of()));
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
        queue.workloads = List.of(checked(
                workload("w", Phase.RESERVED, 15, 1),
                Map.of(
                        "check", new CheckState(State.PENDING, "", ""),
                        "budget", new CheckState(State.REJECTED, "", ""))));

        var _ = round(0, filling("a", 1));
        assertEquals(List.of(), queue.told);
    }

    /// Kueue lists no check then, if any of the queue is for some flavors alone.
    @Test
    void aCheckThatKueueForgotIsWaitedFor() {
        releasing();
        QueuedWorkload before = released(Phase.RELEASED, 5, 1);
        queue.workloads =
                List.of(changed(before, before.release(), before.clusterQueue(), true, Map.of(), Set.of("check")));

        assertEquals(Set.of("a", "b"), round(0, filling("a", 20)));
        assertEquals(List.of(), queue.told, "a check that is not listed has no answer");
        var _ = round(1, local("a"));
        assertEquals(List.of("w resumed"), queue.told);
    }

    private List<String> released() {
        return queue.told.stream()
                .filter(each -> each.contains(" released"))
                .map(each -> each.substring(0, each.indexOf(' ')))
                .sorted()
                .toList();
    }

    @Test
    void tenOfAQueueAreReleasedAtOnceTheOldestFirst() {
        releasing();
        List<QueuedWorkload> workloads = new ArrayList<>(List.of(of(Optional.of("other"), reserved("other"))));
        IntStream.range(10, 22).forEach(each -> workloads.add(workload("w" + each, Phase.RESERVED, 50 - each, 1)));
        IntStream.range(30, 33).forEach(each -> workloads.add(renamed("r" + each, Phase.RELEASED)));
        workloads.add(renamed("r33", Phase.LEAVING));
        Collections.reverse(workloads);
        queue.workloads = workloads;

        var _ = round(10, filling("a", 1));
        assertEquals(List.of("other", "w10", "w11", "w12", "w13", "w14", "w15"), released());
        assertTrue(queue.told.stream().anyMatch(each -> each.startsWith("w16 Pending: dataset u1.x")), "it waits");
        queue.told.clear();

        workloads.removeIf(each -> each.phase() != Phase.RESERVED);
        var _ = round(12, filling("a", 1));
        assertEquals(
                List.of("other", "w10", "w11", "w12", "w13", "w14", "w15", "w16", "w17", "w18", "w19"), released());
    }

    private static QueuedWorkload renamed(String name, Phase phase) {
        QueuedWorkload before = workload(name, phase, 5, 1);
        return with(before, Optional.of(new Release(before.since(), Optional.of(before.since()))));
    }

    @Test
    void withoutAKnownQueueAllOfTheClusterCount() {
        releasing();
        List<QueuedWorkload> workloads =
                new ArrayList<>(List.of(of(Optional.empty(), workload("w", Phase.RESERVED, 5, 1))));
        IntStream.range(0, 10)
                .forEach(each -> workloads.add(of(Optional.of("q" + each), renamed("r" + each, Phase.RELEASED))));
        queue.workloads = workloads;

        var _ = round(10, filling("a", 1));
        assertEquals(List.of(), released());
        workloads.removeLast();
        var _ = round(12, filling("a", 1));
        assertEquals(List.of("w"), released());
    }

    @Test
    void whatKueueWouldNotKeepIsNotReleased() {
        releasing();
        QueuedWorkload before = reserved("w");
        queue.workloads = List.of(
                changed(before, before.release(), before.clusterQueue(), false, before.checks(), before.forgotten()));

        var _ = round(10, filling("a", 1));
        assertEquals(List.of(), released());
        assertTrue(queue.told.getLast().startsWith("w Pending: dataset u1.x"), queue.told::toString);
    }

    private static final Parameters HOLD = new Parameters.Valid(Settings.DEFAULT);

    /// One of two checks does not release: it does not say that the wait goes on in the queue.
    @Test
    void aSecondCheckThatHoldsDoesNotMakeItLate() {
        CheckState pending = new CheckState(State.PENDING, "", "");
        releasing();
        queue.others = List.of(Queue.check("holds", HOLD));
        queue.workloads = List.of(checked(released(Phase.RELEASED, 5, 1), Map.of("check", pending, "holds", pending)));

        var _ = round(0, local("a"));
        assertEquals(List.of("w resumed"), queue.told);
    }

    /// Somebody says hold, or activates it. Others have the quota for an hour then.
    @Test
    void theTimeInTheQueueIsNoWaitForData() {
        for (Phase phase : List.of(Phase.RELEASED, Phase.REACTIVATED)) {
            queue.told.clear();
            queue.set(new Settings(Optional.empty(), Optional.empty(), true, phase == Phase.REACTIVATED));
            queue.workloads = List.of(released(phase, 5, 1));
            var _ = round(0, filling("a", 20));
            assertEquals(List.of("w resumed"), queue.told, phase::toString);

            // the watch was silent meanwhile: the Workload was not seen in its queue
            queue.workloads = List.of(
                    with(workload("w", Phase.RESERVED, -3600, 1), Optional.of(new Release(NOW, Optional.empty()))));
            var _ = round(3601, filling("a", 20));
            assertTrue(queue.told.getLast().startsWith("w Pending: dataset u1.x"), queue.told::toString);
        }
    }
}

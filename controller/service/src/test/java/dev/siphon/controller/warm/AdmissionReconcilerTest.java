package dev.siphon.controller.warm;

import static dev.siphon.controller.warm.WarmWorld.NOW;
import static dev.siphon.controller.warm.WarmWorld.anywhere;
import static dev.siphon.controller.warm.WarmWorld.failed;
import static dev.siphon.controller.warm.WarmWorld.filling;
import static dev.siphon.controller.warm.WarmWorld.local;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.warm.DataCheck.Parameters;
import dev.siphon.controller.warm.DataCheck.Settings;
import dev.siphon.controller.warm.QueuedWorkload.CheckState;
import dev.siphon.controller.warm.QueuedWorkload.Phase;
import dev.siphon.controller.warm.QueuedWorkload.PodSet;
import dev.siphon.controller.warm.QueuedWorkload.State;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// What Kueue's Workloads want, round by round.
final class AdmissionReconcilerTest extends AdmissionRounds {
    @Test
    void aWorkloadIsAdmittedWhenItsDataIsThere() {
        queue.workloads = List.of(reserved("w"));

        assertEquals(Set.of("a", "b"), round(0), "one that it needs, and one for choice");
        assertEquals(Set.of("a", "b"), round(10, filling("a", 20), filling("b", 0)));
        assertEquals(Set.of("a", "b"), round(20, filling("a", 40), filling("b", 0)));
        assertEquals(Set.of("a", "b"), round(21, local("a"), filling("b", 0)));

        assertEquals(
                List.of(
                        "w Pending: dataset u1.x: 0 of 1 replicas, 0 percent",
                        "w Pending: dataset u1.x: 0 of 1 replicas, 20 percent",
                        "w Pending: dataset u1.x: 0 of 1 replicas, 40 percent, about 30 s left",
                        "w Ready: dataset u1.x is on a disk of a"),
                queue.told);
    }

    /// It is not listed any longer: evicted, preempted, deactivated, finished, admitted or deleted.
    @Test
    void aWorkloadThatWaitsNoLongerFreesItsOrders() {
        queue.workloads = List.of(reserved("w"), workload("x", Phase.SENT_BACK, 5, 1));
        assertEquals(Set.of("a", "b"), round(0));

        queue.workloads = List.of(workload("x", Phase.SENT_BACK, 5, 1));
        assertEquals(Set.of(), round(1, filling("a", 20)), "another check sent that one back");
    }

    @Test
    void ordersStayWhileKueueIsNotKnown() {
        queue.workloads = List.of(reserved("w"));
        queue.isSilent = true;

        assertEquals(Set.of("a"), round(0, filling("a", 20)));
    }

    @Test
    void theFlavorSaysWhichNodesSuit() {
        queue.flavors = Map.of("gpu", new DataCheck.Flavor("gpu", Map.of("node", "b"), List.of()));
        queue.workloads = List.of(reserved("w"));

        assertEquals(Set.of("b"), round(0));
    }

    @Test
    void theCheckSaysOnHowManyNodes() {
        queue.set(new Settings(Optional.of(3), Optional.empty(), false, false));
        queue.workloads = List.of(reserved("w"));

        assertEquals(Set.of("a", "b", "c"), round(0));
        var _ = round(10, local("a"), local("b"), filling("c", 50));
        var _ = round(20, local("a"), local("b"), local("c"));
        assertEquals(
                List.of(
                        "w Pending: dataset u1.x: 0 of 3 replicas, 0 percent",
                        "w Pending: dataset u1.x: 2 of 3 replicas, 83 percent",
                        "w Ready: dataset u1.x is on a disk of a, b, c"),
                queue.told);
    }

    @Test
    void asManyNodesAsThePodsNeed() {
        queue.workloads = List.of(workload("w", Phase.RESERVED, 5, 6));

        assertEquals(Set.of("a", "b"), round(0), "four pods on a, two on b");
        var _ = round(10, local("a"), filling("b", 50));
        assertEquals("w Pending: dataset u1.x: 1 of 2 replicas, 75 percent", queue.told.getLast());
    }

    @Test
    void aNodeThatCannotIsNotWaitedFor() {
        queue.set(new Settings(Optional.of(3), Optional.empty(), true, false));
        queue.workloads = List.of(reserved("w"));

        assertEquals(Set.of("a", "b", "c"), round(0, failed("a", "full"), local("b"), local("c")));
        assertEquals("w Ready: dataset u1.x is on a disk of b, c; node a: full", queue.told.getLast());
    }

    @Test
    void progressIsNotWrittenEachSecond() {
        queue.workloads = List.of(reserved("w"));
        for (int second = 0; second < 30; second++) {
            var _ = round(second, filling("a", second), filling("b", 0));
        }
        assertTrue(queue.told.size() <= 6, queue.told::toString);
    }

    /// A change of the object refuses what else was to be written.
    @Test
    void textsOfTwoChecksTakeTurns() {
        CheckState pending = new CheckState(State.PENDING, "", "");
        queue.others = List.of(Queue.check("other", queue.parameters));
        queue.workloads = List.of(checked(reserved("w"), Map.of("check", pending, "other", pending)));

        var _ = round(0, filling("a", 20));
        assertEquals(List.of("w Pending: dataset u1.x: 0 of 1 replicas, 20 percent"), queue.told);
        var _ = round(1, filling("a", 20));
        assertEquals("w/other Pending: dataset u1.x: 0 of 1 replicas, 20 percent", queue.told.getLast());
        var _ = round(2, filling("a", 20));
        assertEquals(2, queue.told.size());
        var _ = round(3, local("a"));
        assertEquals(4, queue.told.size(), "a state does not wait for its turn");
    }

    @Test
    void aCheckWithoutItsParametersIsNotActive() {
        queue.parameters = new Parameters.Invalid("there is no DatasetCheck x: create it");
        queue.workloads = List.of(reserved("w"));

        assertEquals(Set.of(), round(0));
        assertEquals(
                List.of(
                        "Active[isActive=false, message=there is no DatasetCheck x: create it]",
                        "w Pending: the AdmissionCheck cannot be used: there is no DatasetCheck x: create it"),
                queue.told.stream().sorted().toList());
    }

    @Test
    void oneThatMayNotReadIsRejectedAndHoldsUpNobody() {
        GatedPod stranger = new GatedPod(
                "u2",
                "s",
                "uid-s",
                "1",
                NOW,
                Optional.empty(),
                false,
                "s",
                WarmWorld.gpus(1),
                true,
                anywhere(),
                List.of(new GatedPod.DatasetReference.ByName("u1/x")));
        QueuedWorkload rejected = new QueuedWorkload(
                "u2",
                "s",
                "uid-s",
                "1",
                Phase.RESERVED,
                NOW.minusSeconds(60),
                Optional.empty(),
                Optional.of("queue"),
                true,
                Map.of("check", new CheckState(State.PENDING, "", "")),
                Set.of(),
                List.of(new PodSet("main", 1, stranger, Set.of())));
        queue.workloads = List.of(rejected, reserved("w"));

        var _ = round(0, local("a"));
        assertEquals(2, queue.told.size());
        assertTrue(queue.told.stream().anyMatch(each -> each.startsWith("s Rejected: its pods cannot run: namespace")));
        assertTrue(queue.told.contains("w Ready: dataset u1.x is on a disk of a"));
    }
}

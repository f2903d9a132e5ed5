package dev.siphon.controller.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.DatasetReplica.State;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// What becomes of objects that nobody ordered. `GateDecisionTest` has the orders.
final class OrderChangeTest {
    private static final OrderedReplica NOTHING = WarmWorld.unordered(WarmWorld.replica("a", Report.of(State.ABSENT)));

    private static List<OrderChange> decide(Optional<Set<DatasetOnNode>> used, String... declared) {
        ObservedGates is = new ObservedGates(
                WarmWorld.NOW,
                List.of(WarmWorld.node("a", 8, 8)),
                List.of(NOTHING),
                WarmWorld.declared(declared),
                Map.of());
        return OrderChange.decide(is, Set.of(), used);
    }

    @Test
    void anObjectThatNoPodUsesIsDeleted() {
        List<OrderChange> deleted = List.of(new OrderChange.Forget(NOTHING));
        assertEquals(deleted, decide(Optional.of(Set.of()), WarmWorld.X));
        assertEquals(List.of(), decide(Optional.of(Set.of(NOTHING.place())), WarmWorld.X));
    }

    /// As after each change of the leader: its node may wait for its turn by this object.
    @Test
    void whileItIsNotKnownWherePodsUseDatasetsOnlyWhatCannotBeUsedIsDeleted() {
        assertEquals(List.of(), decide(Optional.empty(), WarmWorld.X));
        assertEquals(List.of(new OrderChange.Forget(NOTHING)), decide(Optional.empty(), "u1.other"));
    }
}

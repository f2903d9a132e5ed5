package dev.siphon.controller.warm;

import static dev.siphon.controller.warm.WarmWorld.X;
import static dev.siphon.controller.warm.WarmWorld.failed;
import static dev.siphon.controller.warm.WarmWorld.filling;
import static dev.siphon.controller.warm.WarmWorld.local;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.grant.NamespaceAccess.ReplicaSummary;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ReplicaProgressTest {
    private final ReplicaProgress progress = new ReplicaProgress();

    @Test
    void namespacesWhosePodsWaitOrRunSeeHowFarTheirsAreAndNobodyElseDoes() {
        List<OrderedReplica> replicas = List.of(local("a"), filling("b", 47), filling("c", 20), failed("d", "no room"));
        progress.seen(replicas, Map.of(X, Set.of("waits")));
        progress.used(Map.of(X, Set.of("runs"), "another", Set.of("stranger")));
        Map<String, ReplicaSummary> seen = Map.of(X, new ReplicaSummary(1, 2, 1, 30));
        assertEquals(Map.of("waits", seen, "runs", seen), progress.byNamespace());
    }

    @Test
    void whatIsSeenChangesWithStepsAndNotWithEachPercent() {
        progress.used(Map.of(X, Set.of("runs")));
        long different = java.util.stream.IntStream.range(0, 100)
                .mapToObj(percent -> {
                    progress.seen(List.of(filling("a", percent)), Map.of());
                    return progress.byNamespace();
                })
                .distinct()
                .count();
        assertEquals(10, different);
    }
}

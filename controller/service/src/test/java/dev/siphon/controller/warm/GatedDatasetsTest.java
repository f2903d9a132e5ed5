package dev.siphon.controller.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.kubernetes.KubernetesAccess;
import dev.siphon.controller.kubernetes.KubernetesAdapter;
import dev.siphon.controller.warm.GatedDatasets.ReadDecision;
import dev.siphon.csi.Grants;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Which pods are decided on. No request is needed for these.
final class GatedDatasetsTest {
    private static final Map<String, Grants.Shared> DECLARED =
            Map.of(WarmWorld.X, new Grants.Shared(WarmWorld.volume(WarmWorld.X), false, new TreeSet<>(List.of("u1"))));

    private final KubernetesAdapter nobody = KubernetesAdapter.open(
            new KubernetesAccess("siphon", Optional.empty()), "cephfs.siphon.dev", () -> Duration.ofSeconds(1));

    @AfterEach
    void close() {
        nobody.close();
    }

    private ReadDecision read(GatedPod pod) {
        return Optional.ofNullable(new GatedDatasets(nobody.warming())
                        .all(List.of(pod), DECLARED)
                        .reads()
                        .get(pod))
                .orElseThrow();
    }

    @Test
    void aPodWaitsUntilItsDevicesAreKnown() {
        GatedPod pod = WarmWorld.pod("p", 1, WarmWorld.anywhere());
        assertEquals(new ReadDecision.Pending(Set.of(WarmWorld.X)), read(pod.needing(ResourceAmounts.NONE, false)));
        assertEquals(new ReadDecision.All(Set.of(WarmWorld.X)), read(pod.needing(ResourceAmounts.NONE, true)));
    }

    @Test
    void aPodThatIsTooLargeIsToldSo() {
        GatedPod pod = WarmWorld.pod("p", 1, WarmWorld.anywhere()).unread("too large");
        assertEquals(
                new ReadDecision.Nothing(new WarmupCluster.Notice(true, "DatasetNotWarm", "too large")), read(pod));
    }
}

package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks that the rules of docs/reference/objects.md satisfy `siphon check controller`.
@Tag("kubernetes")
@Timeout(120)
final class RightsIT {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void theRulesOfTheManualAreEnough() {
        try (TestCluster cluster = KubernetesLab.start(folder);
                KubernetesAdapter adapter = cluster.adapter()) {
            assertEquals(List.of(), adapter.missingRights());
        }
    }

    @Test
    void withoutThemEachIsMissing() {
        try (TestCluster cluster = KubernetesLab.startWithoutRules(folder);
                KubernetesAdapter adapter = cluster.adapter()) {
            List<String> all = Rights.needed().map(Rights.Right::toString).toList();
            assertEquals(all, adapter.missingRights());
            assertTrue(all.contains("update leases siphon-controller"), all.toString());
        }
    }
}

package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.e2e.lab.Await;
import io.fabric8.kubernetes.api.model.PodSchedulingGate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Tests `gate.automatic` of the chart: the API server adds the gate to pods with a GPU and a dataset.
@Tag("kubernetes")
@AloneOnCluster
final class AutomaticGateIT {
    private static final Cluster CLUSTER = Cluster.here();

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private static Path folder;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @BeforeAll
    static void apply() throws IOException {
        var _ = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 25);
        String policies = Stream.of(
                        Chart.rendered("--set", "gate.automatic=true").split("(?m)^---$", -1))
                .filter(each -> each.contains("\nkind: MutatingAdmissionPolicy"))
                .collect(Collectors.joining("\n---\n"));
        Files.writeString(file(), policies);
        var _ = CLUSTER.kubectl("apply", "-f", file().toString());
    }

    @AfterAll
    static void end() {
        var _ = CLUSTER.kubectl("delete", "-f", file().toString());
        tenant.close();
    }

    private static Path file() {
        return folder.resolve("policies.yaml");
    }

    /// An API server applies a new policy after some seconds.
    @Test
    void aPodWithAGpuAndADatasetIsGated() {
        var _ = Await.until("the gate", Cluster.PATIENCE, () -> gates(1).equals(List.of(Installation.GATE)));
    }

    @Test
    void aPodWithoutAGpuIsNot() {
        var _ = Await.until("the policy is known", Cluster.PATIENCE, () -> !gates(1).isEmpty());

        assertEquals(List.of(), gates(0));
    }

    /// Returns the gates that the API server adds to a pod with so many GPUs; creates no pod.
    private static List<String> gates(int gpus) {
        return tenant
                .pod("any", "true")
                .withDataset("u25/digits")
                .withGpus(gpus)
                .dryRun()
                .getSpec()
                .getSchedulingGates()
                .stream()
                .map(PodSchedulingGate::getName)
                .toList();
    }
}

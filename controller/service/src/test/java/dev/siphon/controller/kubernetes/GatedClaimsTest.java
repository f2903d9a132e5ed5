package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import dev.siphon.controller.warm.GateMetrics;
import dev.siphon.controller.warm.GateSettings;
import dev.siphon.controller.warm.ReplicaProgress;
import dev.siphon.controller.warm.WarmupController;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A pod at the gate whose GPU comes through a claim, on three nodes: without such a device, with a used one, and
/// with a free one.
@Timeout(60)
final class GatedClaimsTest {
    private static final VolumeId.DatasetVolume VOLUME = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789abcdef".repeat(3).substring(0, 40), Optional.empty(), "/datasets/x");
    private static final String GROUP = "/apis/resource.k8s.io/v1/";
    private static final String ONE = """
            {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}
            """;

    private static void make(TestCluster cluster, String collection, String object) {
        var _ = cluster.admin().raw(collection, "POST", object);
    }

    private static void makeNode(TestCluster cluster, String name) {
        make(cluster, "/api/v1/nodes", """
                {"metadata": {"name": "%s"},
                 "status": {"allocatable": {"pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]}}
                """.formatted(name));
    }

    private static void makeDevice(TestCluster cluster, String node) {
        make(cluster, GROUP + "resourceslices", """
                {"metadata": {"name": "%1$s"},
                 "spec": {"driver": "x.y", "nodeName": "%1$s", "pool": {"name": "%1$s", "generation": 1},
                          "devices": [{"name": "gpu-0"}]}}
                """.formatted(node));
    }

    private static void makeClaims(TestCluster cluster) {
        make(cluster, GROUP + "deviceclasses", """
                {"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": "device.driver == 'x.y'"}}]}}
                """);
        make(cluster, GROUP + "namespaces/siphon/resourceclaims", """
                {"metadata": {"name": "taken", "namespace": "siphon"}, "spec": %s,
                 "status": {"allocation": {"devices": {"results": [
                   {"driver": "x.y", "pool": "node-1", "device": "gpu-0"}]}}}}
                """.formatted(ONE));
        make(cluster, GROUP + "namespaces/siphon/resourceclaimtemplates", """
                {"metadata": {"name": "gpu", "namespace": "siphon"}, "spec": {"spec": %s}}
                """.formatted(ONE));
    }

    private static void makePod(TestCluster cluster) {
        make(cluster, "/api/v1/namespaces/siphon/pods", """
                {"metadata": {"name": "train", "namespace": "siphon"},
                 "spec": {"schedulingGates": [{"name": "siphon.dev/dataset"}], "containers": [{}],
                          "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
                          "volumes": [{"name": "data",
                            "csi": {"driver": "cephfs.siphon.dev", "volumeAttributes": {"dataset": "u1/x"}}}]}}
                """);
    }

    private static Grants grants() {
        return new Grants(Map.of(), Map.of("u1.x", new Grants.Shared(VOLUME, false, new TreeSet<>(List.of("siphon")))));
    }

    @Test
    void itWaitsForTheNodeWhereTheDeviceIsFree(@TempDir Path folder) {
        try (TestCluster cluster = TestCluster.inMemory(folder);
                KubernetesAdapter adapter = cluster.adapter();
                WarmupController warmupController = new WarmupController(
                        adapter.warming(),
                        new GateSettings(Duration.ofMinutes(10), 3),
                        GatedClaimsTest::grants,
                        (question, _) ->
                                new DatasetAccess.Refused(question.request(), new DriverException.InUse("not asked")),
                        new GateMetrics(new PrometheusRegistry()),
                        new ReplicaProgress(),
                        InstantSource.system())) {
            List.of("node-0", "node-1", "node-2").forEach(node -> makeNode(cluster, node));
            List.of("node-1", "node-2").forEach(node -> makeDevice(cluster, node));
            makeClaims(cluster);
            makePod(cluster);
            warmupController.reconcile();
            assertEquals(
                    List.of("node-1", "node-2"),
                    adapter.warming().replicas().stream()
                            .map(replica -> replica.order().node())
                            .sorted()
                            .toList(),
                    "where it may run at all");
            String told = JsonParser.parseString(cluster.admin().raw("/api/v1/namespaces/siphon/events"))
                    .toString();
            assertTrue(told.contains("is being filled on node-2; the pod waits"), told);
        }
    }
}

package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.key.DatasetKeyStore;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("kubernetes")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class KubernetesDatasetCatalogIT extends KubernetesDatasetCatalogContract {
    private TestCluster cluster;

    @BeforeAll
    void start(@TempDir Path folder) {
        cluster = KubernetesLab.start(folder);
        KubernetesLab.serveDatasets(cluster.admin());
    }

    @AfterAll
    void stop() {
        KubernetesLab.endDatasets(cluster.admin());
        cluster.close();
    }

    @Override
    TestCluster cluster() {
        return cluster;
    }

    /// The server in memory does not support selectors for missing labels.
    @Test
    void nodesAskIfAllOfThemSaySo() {
        DatasetKeyStore store = adapter().datasetKeys(false);
        assertFalse(store.nodesAsk(), "nobody knows who runs nodes");
        node("asking", ", \"siphon.dev/dataset-keys\": \"asked\"");
        assertTrue(store.nodesAsk());
        assertFalse(adapter().datasetKeys(true).nodesAsk(), "an administrator wants keys");
        node("before", "");
        assertFalse(store.nodesAsk());
        cluster().admin().raw(pods() + "/before", "DELETE", "{\"gracePeriodSeconds\": 0}");
        assertTrue(store.nodesAsk());
        cluster().admin().raw(pods() + "/asking", "DELETE", "{\"gracePeriodSeconds\": 0}");
    }

    private String pods() {
        return "/api/v1/namespaces/" + cluster().access().namespace() + "/pods";
    }

    private void node(String name, String label) {
        cluster().admin().raw(pods(), "POST", """
                        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s", "namespace": "%s", "labels": {
                          "app.kubernetes.io/name": "siphon", "app.kubernetes.io/component": "node"%s}},
                         "spec": {"automountServiceAccountToken": false, "nodeName": "node-1", "containers": [{"name": "siphon", "image": "siphon"}]}}
                        """.formatted(
                        name, cluster().access().namespace(), label));
    }
}

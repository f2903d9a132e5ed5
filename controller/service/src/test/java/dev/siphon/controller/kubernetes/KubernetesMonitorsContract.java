package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.monitor.MonitorStore;
import dev.siphon.csi.DriverException;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Monitors are read from Rook's ConfigMap, and published for nodes for all clusters.
abstract class KubernetesMonitorsContract {
    private static final List<String> MONITORS =
            List.of("[v2:10.0.0.1:3300,v1:10.0.0.1:6789]", "[v2:10.0.0.2:3300,v1:10.0.0.2:6789]");

    private String rook = "";
    private KubernetesAdapter adapter;

    abstract TestCluster cluster();

    /// Lets the driver read Rook's ConfigMap in a namespace, like the chart.
    abstract void letRead(String rookNamespace);

    @BeforeEach
    void open() {
        // a deleted namespace remains for a while
        rook = "rook-" + UUID.randomUUID();
        adapter = cluster().adapter();
        cluster()
                .admin()
                .namespaces()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(rook)
                        .endMetadata()
                        .build())
                .create();
        published().delete();
    }

    @AfterEach
    void close() {
        adapter.close();
        cluster().admin().namespaces().withName(rook).delete();
    }

    private Resource<ConfigMap> published() {
        return cluster()
                .admin()
                .configMaps()
                .inNamespace(cluster().access().namespace())
                .withName("siphon-monitors");
    }

    /// Writes the ConfigMap in the format of Rook 1.20.
    private void rookHas(String endpoints) {
        ConfigMap map = new ConfigMapBuilder()
                .withNewMetadata()
                .withName("rook-ceph-mon-endpoints")
                .endMetadata()
                .withData(Map.of(
                        "data", endpoints,
                        "externalMons", "",
                        "mapping", "{\"node\":{}}",
                        "maxMonId", "1",
                        "outOfQuorum", ""))
                .build();
        var _ = cluster().admin().configMaps().inNamespace(rook).resource(map).create();
    }

    @Test
    void rooksMonitorsAreRead() {
        letRead(rook);
        rookHas("b=10.0.0.2:6789,a=10.0.0.1:6789");
        assertEquals(MONITORS, adapter.rookMonitors(rook).read());
    }

    @Test
    void aNamespaceWithoutRookIsSaid() {
        letRead(rook);
        DriverException none = assertThrows(
                DriverException.NotFound.class, () -> adapter.rookMonitors(rook).read());
        assertTrue(String.valueOf(none.getMessage()).contains("kubectl get cephclusters -A"), none.getMessage());
    }

    @Test
    void whatIsPublishedIsReadAgain() {
        MonitorStore store = adapter.monitors();
        assertEquals(Map.of(), store.last());
        store.publish(Map.of("ceph", List.of("10.9.9.9")));
        store.publish(Map.of("ceph", MONITORS));
        assertEquals(Map.of("ceph", MONITORS), store.last());
        assertEquals(
                Map.of("ceph", String.join(",", MONITORS)), published().get().getData());
    }
}

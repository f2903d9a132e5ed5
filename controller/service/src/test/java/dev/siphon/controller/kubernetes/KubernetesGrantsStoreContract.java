package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.grant.GrantsStore;
import dev.siphon.controller.grant.GrantsStoreContract;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What [KubernetesGrantsStore] does beyond the contract of all stores.
abstract class KubernetesGrantsStoreContract extends GrantsStoreContract {
    private final List<KubernetesAdapter> opened = new ArrayList<>();

    abstract TestCluster cluster();

    private Resource<ConfigMap> published() {
        return cluster()
                .admin()
                .configMaps()
                .inNamespace(cluster().access().namespace())
                .withName("siphon-grants");
    }

    @BeforeEach
    void removeWhatIsPublished() {
        published().delete();
    }

    @AfterEach
    void closeAll() {
        opened.forEach(KubernetesAdapter::close);
    }

    @Override
    protected GrantsStore open() {
        KubernetesAdapter adapter = cluster().adapter();
        opened.add(adapter);
        return adapter.grants();
    }

    @Override
    protected String read() {
        return Optional.ofNullable(published().get().getData().get("grants.json"))
                .orElse("");
    }

    @Override
    protected void spoil(String text) {
        ConfigMap spoilt = new ConfigMapBuilder(published().get())
                .addToData("grants.json", text)
                .build();
        cluster()
                .admin()
                .configMaps()
                .inNamespace(cluster().access().namespace())
                .resource(spoilt)
                .update();
    }

    @Test
    void whatAChartMadeBeforeStays() {
        cluster()
                .admin()
                .configMaps()
                .inNamespace(cluster().access().namespace())
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName("siphon-grants")
                        .addToLabels("helm.sh/chart", "siphon")
                        .endMetadata()
                        .addToData("grants.json", "")
                        .addToData("README", "for nodes")
                        .build())
                .create();
        assertEquals(Grants.NONE, open().last());
        open().publish(grants("u1", "user-u1"));
        assertEquals(grants("u1", "user-u1"), Grants.parse(read()));
        assertEquals("for nodes", published().get().getData().get("README"));
        assertEquals("siphon", published().get().getMetadata().getLabels().get("helm.sh/chart"));
    }

    @Test
    void whatAConfigMapCanHoldIsPublishedAndMoreIsRefused() {
        GrantsStore store = open();
        store.publish(ofBytes(KubernetesGrantsStore.MOST));
        assertEquals(ofBytes(KubernetesGrantsStore.MOST), store.last());
        DriverException.QuotaExhausted refused = assertThrows(
                DriverException.QuotaExhausted.class, () -> store.publish(ofBytes(KubernetesGrantsStore.MOST + 1)));
        assertTrue(refused.getMessage().contains("1048576"), refused.getMessage());
        assertEquals(ofBytes(KubernetesGrantsStore.MOST), store.last(), "what was published stays");
    }

    /// Returns grants whose text has this many bytes.
    private static Grants ofBytes(int bytes) {
        int without = grants("u1", "").toJson().length();
        return grants("u1", "n".repeat(bytes - without));
    }
}

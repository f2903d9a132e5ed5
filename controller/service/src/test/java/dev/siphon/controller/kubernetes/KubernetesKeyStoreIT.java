package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.key.KeyStore;
import dev.siphon.csi.DriverException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

@Tag("kubernetes")
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class KubernetesKeyStoreIT extends KubernetesKeyStoreContract {
    private TestCluster cluster;

    @BeforeAll
    void start(@TempDir Path folder) {
        cluster = KubernetesLab.start(folder);
    }

    @AfterAll
    void stop() {
        cluster.close();
    }

    @Override
    TestCluster cluster() {
        return cluster;
    }

    @Test
    void withoutItsRulesTheDriverIsToldWhatItMayNot(@TempDir Path folder) {
        try (TestCluster bare = KubernetesLab.startWithoutRules(folder);
                KubernetesAdapter adapter = bare.adapter()) {
            KeyStore store = adapter.keys();
            store.named(VOLUME, "pvc-1");
            List<Executable> calls = List.of(
                    () -> store.put(VOLUME, key(VOLUME, "sesame")),
                    () -> store.find(VOLUME),
                    () -> store.remove(VOLUME),
                    store::volumes,
                    () -> adapter.grants().last(),
                    () -> adapter.namespaces().annotations("default"));
            for (Executable call : calls) {
                String message =
                        assertThrows(DriverException.AccessDenied.class, call).getMessage();
                assertTrue(message.contains("is forbidden"), message);
                assertTrue(message.contains("docs/reference/objects.md"), message);
                assertTrue(!message.contains("sesame"), message);
            }
        }
    }
}

package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.key.NodeKernels.NodeKernel;
import dev.siphon.csi.KernelKeys;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class KubernetesNodeKernelsTest {
    private static final String ENDED = "{\"terminated\": {\"exitCode\": 0, \"message\": \"%s\\n\"}}";

    private final InMemoryApiServer server = new InMemoryApiServer();

    @Test
    void eachPodOfTheNodePluginSaysWhatItsKernelCanUse(@TempDir Path folder) {
        try (TestCluster cluster = TestCluster.inMemory(folder, server);
                KubernetesAdapter adapter = cluster.adapter()) {
            pod("new", "node", "kernel", ENDED.formatted("aes aes256k"));
            pod("old", "node", "kernel", ENDED.formatted("aes"));
            pod("fuse", "node", "kernel", ENDED.formatted("none"));
            pod("starts", "node", "kernel", "{\"running\": {}}");
            pod("failed", "node", "kernel", ENDED.formatted("Killed"));
            pod("earlier", "node", "other", ENDED.formatted("aes"));
            pod("controllers", "controller", "kernel", ENDED.formatted("aes"));
            assertEquals(
                    Set.of(
                            new NodeKernel("new", Optional.of(KernelKeys.BOTH)),
                            new NodeKernel("old", Optional.of(KernelKeys.ONLY_AES)),
                            new NodeKernel("fuse", Optional.of(KernelKeys.NONE)),
                            new NodeKernel("starts", Optional.empty()),
                            new NodeKernel("failed", Optional.empty()),
                            new NodeKernel("earlier", Optional.empty())),
                    Set.copyOf(adapter.kernels().all()));
        }
    }

    private void pod(String node, String component, String container, String state) {
        server.add("/api/v1/namespaces/siphon/pods", """
                {"metadata": {"name": "%1$s", "namespace": "siphon", "labels": {
                   "app.kubernetes.io/name": "siphon", "app.kubernetes.io/component": "%2$s"}},
                 "spec": {"nodeName": "%1$s", "containers": []},
                 "status": {"initContainerStatuses": [{"name": "%3$s", "state": %4$s}]}}
                """.formatted(node, component, container, state));
    }
}

package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Tenants' objects of the maximal size, read by a process with a controller's memory.
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class TenantObjectsTest {
    /// 1.5 MB of JSON, about 50 MB as objects.
    private static final String PADDING = "[" + "\"\",".repeat(499_999) + "\"\"]";

    /// Each with 240 KiB of annotations, which take 160 KiB in memory.
    private static final int NAMESPACES = 300;

    private static final int SMALL = 10_000;

    /// What a watch keeps of all namespaces.
    private static final long HEAP_KIB = 8_192;

    @TempDir
    private Path folder = Path.of("");

    private static void make(TestCluster cluster, String collection, String object) {
        var _ = cluster.admin().raw(collection, "POST", object);
    }

    private static String volumes() {
        return IntStream.range(0, 8).mapToObj("""
                        {"name": "data-%d",
                         "csi": {"driver": "cephfs.siphon.dev", "volumeAttributes": {"dataset": "u1/x"}}}
                        """::formatted).collect(Collectors.joining(","));
    }

    private static long heap(List<String> said) {
        return said.stream()
                .filter(line -> line.startsWith("heap "))
                .mapToLong(line -> Long.parseLong(line.split(" ", -1)[1]))
                .findFirst()
                .orElseThrow();
    }

    /// Runs a process to its end, which must come within the test's limit.
    private static List<String> said(ProcessBuilder command) throws IOException, InterruptedException {
        Process process = command.start();
        try {
            List<String> said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            assertTrue(process.waitFor(60, TimeUnit.SECONDS), "it goes on");
            assertEquals(0, process.exitValue(), said::toString);
            return said;
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void hugePodsAndClaimsAndSnapshotsAreReadInTheControllersMemory() throws Exception {
        InMemoryApiServer server = new InMemoryApiServer();
        try (TestCluster cluster = TestCluster.inMemory(folder, server)) {
            make(cluster, "/api/v1/namespaces", """
                    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "u1"}}
                    """);
            make(cluster, "/api/v1/namespaces/u1/pods", """
                    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "huge", "namespace": "u1"},
                     "spec": {"nodeName": "node-1", "containers": [{"name": "c", "args": %s}], "volumes": [%s]}}
                    """.formatted(PADDING, volumes()));
            make(cluster, "/api/v1/namespaces/u1/persistentvolumeclaims", """
                    {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                     "metadata": {"name": "huge", "namespace": "u1", "finalizers": %s,
                                  "annotations": {"siphon.dev/dataset": "u1/x"}}}
                    """.formatted(PADDING));
            make(cluster, "/apis/snapshot.storage.k8s.io/v1/namespaces/u1/volumesnapshots", """
                    {"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot",
                     "metadata": {"name": "huge", "namespace": "u1", "finalizers": %s}}
                    """.formatted(PADDING));
            for (int i = 0; i < NAMESPACES; i++) {
                make(cluster, "/api/v1/namespaces", """
                        {"apiVersion": "v1", "kind": "Namespace",
                         "metadata": {"name": "n-%03d", "annotations": {"siphon.dev/owners": "%s"}}}
                        """.formatted(i, "語".repeat(80 << 10)));
            }
            IntStream.range(0, SMALL)
                    .forEach(index -> server.add("/api/v1/namespaces", """
                    {"metadata": {"name": "s-%1$05d", "labels": {"note": "%2$s"},
                                  "annotations": {"siphon.dev/owners": "user-%1$d, group:%1$d", "note": "%2$s"}}}
                    """.formatted(index, "x".repeat(200))));
            String uid = cluster.admin()
                    .pods()
                    .inNamespace("u1")
                    .withName("huge")
                    .get()
                    .getMetadata()
                    .getUid();
            List<String> said = said(TenantObjectsProcess.command(folder.resolve("kubeconfig"), uid));
            assertEquals("end", said.getLast(), said::toString);
            assertTrue(said.contains((NAMESPACES + SMALL) + " namespaces"), said::toString);
            assertTrue(said.contains((NAMESPACES + SMALL) + " watched namespaces"), said::toString);
            assertTrue(heap(said) < HEAP_KIB, said::toString);
            int each = TenantObjectsProcess.AT_ONCE;
            assertEquals(each, said.stream().filter("siphon-dataset.x"::equals).count(), said::toString);
            assertEquals(
                    each,
                    said.stream().filter("Optional[Named[text=u1/x]]"::equals).count(),
                    said::toString);
            assertEquals(
                    each,
                    cluster.admin()
                            .v1()
                            .events()
                            .inNamespace("u1")
                            .list()
                            .getItems()
                            .size(),
                    said::toString);
        }
    }
}

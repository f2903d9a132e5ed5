package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.dataset.EncryptedSecret;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks that a real API server delivers questions that already exist, new ones, and repeated ones.
@Tag("kubernetes")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class DatasetRequestsIT {
    private TestCluster cluster;
    private DatasetRequests requests;

    @BeforeAll
    void start(@TempDir Path folder) {
        cluster = KubernetesLab.start(folder);
        KubernetesLab.serveAccesses(cluster.admin());
        KubernetesApi api = new KubernetesApi(cluster.access(), () -> TestCluster.PATIENT);
        requests = new DatasetRequests(
                api, "cephfs.siphon.dev", new DatasetAccesses(api), (_, _) -> TenantObjectsProcess.OPENED);
    }

    @AfterAll
    void stop() {
        requests.close();
        KubernetesLab.endAccesses(cluster.admin());
        cluster.close();
    }

    private String namespace() {
        return cluster.access().namespace();
    }

    private String pod(String name) {
        return cluster.admin()
                .pods()
                .inNamespace(namespace())
                .resource(cluster.admin()
                        .getKubernetesSerialization()
                        .unmarshal("""
                                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s"},
                                 "spec": {"nodeName": "node-1", "automountServiceAccountToken": false,
                                  "containers": [{"name": "c", "image": "none"}],
                                  "volumes": [{"name": "data", "csi": {"driver": "cephfs.siphon.dev",
                                    "volumeAttributes": {"dataset": "u1/x"}}}]}}
                                """.formatted(name), io.fabric8.kubernetes.api.model.Pod.class))
                .create()
                .getMetadata()
                .getUid();
    }

    private Resource<GenericKubernetesResource> ask(String pod, String uid, String request) {
        String name = InlinePod.handle(uid, "data");
        var access = cluster.admin()
                .getKubernetesSerialization()
                .unmarshal(
                        """
                        {"apiVersion": "siphon.dev/v1alpha1", "kind": "DatasetAccess", "metadata": {"name": "%s"},
                         "spec": {"dataset": "u1/x", "node": "node-1", "pod": "%s", "podUID": "%s", "publicKey": "%s",
                                  "request": "%s"}}
                        """.formatted(name, pod, uid, new EncryptedSecret.Reader().publicKey(), request),
                        GenericKubernetesResource.class);
        var resource = cluster.admin().resource(access).inNamespace(namespace());
        var _ = resource.serverSideApply();
        return cluster.admin()
                .genericKubernetesResources("siphon.dev/v1alpha1", "DatasetAccess")
                .inNamespace(namespace())
                .withName(name);
    }

    private static void isGiven(Resource<GenericKubernetesResource> access, String request) {
        GenericKubernetesResource answered = access.waitUntilCondition(
                found -> request.equals(found.get("status", "request")),
                TestCluster.PATIENT.toSeconds(),
                TimeUnit.SECONDS);
        assertEquals(
                Optional.of("siphon-dataset.x"),
                Optional.ofNullable(answered.<String>get("status", "userID")),
                () -> String.valueOf(answered.<Object>get("status")));
    }

    @Test
    void questionsAreAnsweredWheneverTheyAreAsked() {
        String before = pod("before");
        var early = ask("before", before, "1");
        var _ = requests.start(new BackgroundTasks());
        isGiven(early, "1");
        isGiven(ask("after", pod("after"), "2"), "2");
        isGiven(ask("before", before, "3"), "3");
    }
}

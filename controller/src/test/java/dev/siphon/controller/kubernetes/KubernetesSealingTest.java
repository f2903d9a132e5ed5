package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.seal.SealingCluster;
import dev.siphon.controller.seal.SealingCluster.Notice;
import dev.siphon.controller.seal.SealingClusterContract;
import dev.siphon.controller.volume.SnapshotClass.Asked;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class KubernetesSealingTest extends SealingClusterContract {
    private static final String PACKER = "siphon-pack-i00000000000000a";
    private static final String PODS = "/api/v1/namespaces/siphon/pods";

    @TempDir
    private Path folder = Path.of("");

    private Optional<TestCluster> started = Optional.empty();
    private Optional<KubernetesAdapter> adapter = Optional.empty();

    @BeforeEach
    void start() {
        TestCluster cluster = TestCluster.inMemory(folder);
        started = Optional.of(cluster);
        adapter = Optional.of(cluster.adapter());
        var _ = post("/api/v1/namespaces/siphon/podtemplates", """
                {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "siphon-packer"},
                 "template": {"spec": {"containers": [{"name": "packer", "image": "siphon",
                   "command": ["siphon", "dataset", "pack"]}]}}}
                """);
    }

    @AfterEach
    void stop() {
        adapter.ifPresent(KubernetesAdapter::close);
        started.ifPresent(TestCluster::close);
    }

    @Override
    protected SealingCluster cluster() {
        return adapter.orElseThrow().sealing();
    }

    private JsonObject post(String collection, String object) {
        return JsonParser.parseString(started.orElseThrow().admin().raw(collection, "POST", object))
                .getAsJsonObject();
    }

    private JsonObject get(String path) {
        return JsonParser.parseString(started.orElseThrow().admin().raw(path)).getAsJsonObject();
    }

    private String jobs() {
        return "/" + KubernetesSealing.JOBS + "siphon/jobs";
    }

    @Override
    protected void ends(String name, Optional<String> lastWords) {
        lastWords.ifPresent(said -> post(PODS, """
                {"apiVersion": "v1", "kind": "Pod",
                 "metadata": {"name": "%1$s-x", "labels": {"batch.kubernetes.io/job-name": "%1$s"}},
                 "status": {"phase": "Failed", "containerStatuses": [{"state": {"terminated":
                   {"exitCode": 1, "reason": "Error", "message": "7%% 1 of 2 bytes\\n%2$s\\n8%% 1 of 2 bytes\\n"}}}]}}
                """.formatted(name, said)));
        JsonObject job = get(jobs() + "/" + name);
        JsonObject status = JsonParser.parseString("""
                        {"conditions": [{"type": "%s", "status": "True", "message": "it reached its limit"}]}
                        """.formatted(lastWords.isPresent() ? "Failed" : "Complete"))
                .getAsJsonObject();
        job.add("status", status);
        var _ = started.orElseThrow().admin().raw(jobs() + "/" + name, "PUT", job.toString());
    }

    @Test
    void theJobIsTheTemplatesAndSeesTwoVolumes() {
        aPackerBegins();
        JsonObject spec = JsonParts.object(get(jobs() + "/" + PACKER), "spec", "template", "spec")
                .orElseThrow();
        JsonObject container = JsonParts.each(spec, "containers").findFirst().orElseThrow();
        assertEquals(Optional.of("siphon"), JsonParts.text(container, "image"));
        assertEquals(
                "[\"--source=/source\",\"--image=/target/image\",\"--modes=readable\",\"--progress\"]",
                String.valueOf(container.get("args")));
        JsonObject source = get("/api/v1/persistentvolumes/" + PACKER + "-source");
        assertEquals(Optional.of("true"), JsonParts.text(source, "spec", "csi", "readOnly"));
        assertEquals(
                Optional.of(PACKER + "-source"), JsonParts.text(source, "spec", "csi", "nodeStageSecretRef", "name"));
        assertEquals(
                Optional.of(PACKER + "-source"),
                JsonParts.text(
                        get("/api/v1/namespaces/siphon/persistentvolumeclaims/" + PACKER + "-source"),
                        "spec",
                        "volumeName"));
        assertTrue(cluster().clear(PACKER));
        for (String collection : new String[] {
            jobs(), "/api/v1/persistentvolumes", "/api/v1/namespaces/siphon/persistentvolumeclaims", "/api/v1/secrets"
        }) {
            assertEquals(0, get(collection).getAsJsonArray("items").size(), collection);
        }
    }

    private void aPackerBegins() {
        cluster().begin(order());
    }

    @Test
    void itsPeopleAreTold() {
        var _ = post("/apis/snapshot.storage.k8s.io/v1/namespaces/siphon/volumesnapshots", """
                {"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot",
                 "metadata": {"name": "v1", "namespace": "siphon"}}
                """);
        cluster().tell(new Asked("siphon", "v1"), new Notice(false, "DatasetBeingSealed", "7%"));
        JsonObject event = get("/api/v1/namespaces/siphon/events")
                .getAsJsonArray("items")
                .get(0)
                .getAsJsonObject();
        assertEquals(Optional.of("v1"), JsonParts.text(event, "involvedObject", "name"));
        assertEquals(Optional.of("7%"), JsonParts.text(event, "message"));
    }
}

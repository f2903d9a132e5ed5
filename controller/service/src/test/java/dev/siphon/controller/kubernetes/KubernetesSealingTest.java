package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.seal.CheckOrder;
import dev.siphon.controller.seal.PackerOutcome;
import dev.siphon.controller.seal.SealingCluster;
import dev.siphon.controller.seal.SealingCluster.Notice;
import dev.siphon.controller.seal.SealingClusterContract;
import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
final class KubernetesSealingTest extends SealingClusterContract {
    private static final String PACKER = "siphon-pack-i00000000000000a";
    private static final String CHECKER = PACKER + "-check";
    private static final String JOBS = "/apis/batch/v1/namespaces/siphon/jobs";
    private static final String CLAIMS = "/api/v1/namespaces/siphon/persistentvolumeclaims";
    private static final String VOLUMES = "/api/v1/persistentvolumes";
    private static final String TEMPLATE = "/api/v1/namespaces/siphon/podtemplates/siphon-packer";
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

    @Override
    protected void ends(String name, Optional<String> lastWords) {
        lastWords.ifPresent(said -> post(PODS, """
                {"apiVersion": "v1", "kind": "Pod",
                 "metadata": {"name": "%1$s-x", "labels": {"batch.kubernetes.io/job-name": "%1$s"}},
                 "status": {"phase": "Failed", "containerStatuses": [{"state": {"terminated":
                   {"exitCode": 1, "reason": "Error", "message": "7%% 1 of 2 bytes\\n%2$s\\n8%% 1 of 2 bytes\\n"}}}]}}
                """.formatted(name, said)));
        JsonObject job = get(JOBS + "/" + name);
        JsonObject status = JsonParser.parseString("""
                        {"conditions": [{"type": "%s", "status": "True", "message": "it reached its limit"}]}
                        """.formatted(lastWords.isPresent() ? "Failed" : "Complete"))
                .getAsJsonObject();
        job.add("status", status);
        var _ = started.orElseThrow().admin().raw(JOBS + "/" + name, "PUT", job.toString());
    }

    @Test
    void theJobIsTheTemplatesAndSeesTwoVolumes() {
        aPackerBegins();
        JsonObject spec = JsonParts.object(get(JOBS + "/" + PACKER), "spec", "template", "spec")
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
            JOBS, "/api/v1/persistentvolumes", "/api/v1/namespaces/siphon/persistentvolumeclaims", "/api/v1/secrets"
        }) {
            assertEquals(0, get(collection).getAsJsonArray("items").size(), collection);
        }
    }

    @Test
    void anImageIsReadBackByAJobThatSeesItAlone() {
        VolumeId target = VolumeId.parse("static:lab:cephfs:/datasets/i00000000000000a");
        CheckOrder check = check(false);
        assertEquals(
                new PackerOutcome.Running("its volumes are being bound"),
                cluster().begin(check));
        bind(CHECKER + "-target");
        assertEquals(
                new PackerOutcome.Running("begins to be read back"), cluster().begin(check));
        JsonObject spec = JsonParts.object(get(JOBS + "/" + CHECKER), "spec", "template", "spec")
                .orElseThrow();
        JsonObject container = JsonParts.each(spec, "containers").findFirst().orElseThrow();
        assertEquals("[\"siphon\",\"dataset\",\"check\"]", String.valueOf(container.get("command")));
        assertEquals(
                "[\"--image=/target/image\",\"--digest=" + check.digest() + "\",\"--progress\"]",
                String.valueOf(container.get("args")));
        assertEquals(
                List.of(CHECKER + "-target"),
                JsonParts.each(spec, "volumes")
                        .map(each -> JsonParts.text(each, "persistentVolumeClaim", "claimName")
                                .orElse(""))
                        .toList());
        JsonObject volume = get(VOLUMES + "/" + CHECKER + "-target");
        assertEquals(Optional.of("true"), JsonParts.text(volume, "spec", "csi", "readOnly"));
        assertEquals(Optional.of(target.toString()), JsonParts.text(volume, "spec", "csi", "volumeHandle"));
        assertTrue(cluster().clear(CHECKER));
        for (String collection : List.of(JOBS, VOLUMES, CLAIMS, "/api/v1/secrets")) {
            assertEquals(0, get(collection).getAsJsonArray("items").size(), collection);
        }
    }

    private static CheckOrder check(boolean earlier) {
        return new CheckOrder(
                CHECKER,
                Digest.of(ByteBuffer.allocate(1)),
                order().target(),
                new VolumeKey("siphon-packer.cephfs.i00000000000000a.check", "key"),
                earlier);
    }

    @Test
    void anImageForWhichNobodyWaitsMakesWayForAPacker() {
        atOnce("1");
        SealingCluster cluster = cluster();
        var _ = cluster.begin(check(true));
        bind(CHECKER + "-target");
        assertEquals(new PackerOutcome.Running("begins to be read back"), cluster.begin(check(true)));
        var _ = cluster.begin(order());
        comes(PACKER);
        assertEquals(new PackerOutcome.Queued("waits: 1 are packed before it"), cluster.begin(order()));
        assertEquals(Optional.empty(), cluster.find(CHECKER));
        var _ = cluster.begin(check(true));
        bind(CHECKER + "-target");
        assertEquals(
                new PackerOutcome.Queued("waits: 0 are packed before it"),
                cluster.begin(check(true)),
                "the place is kept for who waits");
        assertEquals(new PackerOutcome.Running("its packer begins"), cluster.begin(order()));
        assertEquals(new PackerOutcome.Queued("waits: 1 are packed before it"), cluster.begin(check(true)));
        assertInstanceOf(PackerOutcome.Running.class, cluster.find(PACKER).orElseThrow(), "and stops nobody");
    }

    @Test
    void anImageIsUnlikeItsManifestWhereThePolicySaysSo() {
        aPackerBegins();
        JsonObject job = get(JOBS + "/" + PACKER);
        for (String reason : List.of("PodFailurePolicy", "BackoffLimitExceeded")) {
            job.add("status", JsonParser.parseString("""
                    {"conditions": [{"type": "Failed", "status": "True", "reason": "%s", "message": "x"}]}
                    """.formatted(reason)));
            put(JOBS + "/" + PACKER, job);
            assertEquals(
                    Optional.of(new PackerOutcome.Failed("x", reason.equals("PodFailurePolicy"))),
                    cluster().find(PACKER));
            job = get(JOBS + "/" + PACKER);
        }
    }

    private void aPackerBegins() {
        assertEquals(
                new PackerOutcome.Running("its volumes are being bound"),
                cluster().begin(order()));
        comes(PACKER);
        assertEquals(new PackerOutcome.Running("its packer begins"), cluster().begin(order()));
    }

    /// Binds claims to volumes like Kubernetes' controller.
    @Override
    protected void comes(String name) {
        bind(name + "-source");
        bind(name + "-target");
    }

    private void bind(String which) {
        JsonObject claim = get(CLAIMS + "/" + which);
        JsonObject status = new JsonObject();
        status.addProperty("phase", "Bound");
        claim.add("status", status);
        JsonObject volume = get(VOLUMES + "/" + which);
        JsonParts.object(volume, "spec", "claimRef")
                .orElseThrow()
                .addProperty("uid", JsonParts.text(claim, "metadata", "uid").orElseThrow());
        put(CLAIMS + "/" + which, claim);
        put(VOLUMES + "/" + which, volume);
    }

    private void put(String path, JsonObject object) {
        var _ = started.orElseThrow().admin().raw(path, "PUT", object.toString());
    }

    /// The driver's objects, changed by an attacker who knows their names.
    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "another volume | " + VOLUMES
                        + " | -source | \"s1:lab:cephfs:a00000000000000000001:r\" | \"s1:lab:cephfs:a00000000000000000002:v\"",
                "another key | " + VOLUMES
                        + " | -source | (\"nodeStageSecretRef\":.[^}]*)siphon-pack-i00000000000000a-source | $1pvc-2",
                "another driver | " + VOLUMES + " | -source | cephfs.siphon.dev | other.example",
                "more attributes | " + VOLUMES + " | -target | \"monitors\" | \"dataPath\":\"v\",\"monitors\"",
                "another directory | " + VOLUMES
                        + " | -target | static:lab:cephfs:/datasets/i00000000000000a | static:lab:cephfs:/datasets/all",
                "without a label | " + VOLUMES + " | -target | app.kubernetes.io/managed-by | of",
                "mount options | " + VOLUMES + " | -source | \"csi\" | \"mountOptions\":[\"x\"],\"csi\"",
                "of another claim | " + VOLUMES + " | -source | (\"claimRef\":.[^}]*\"uid\":\") | $1x",
                "a claim to another one | " + CLAIMS
                        + " | -source | \"volumeName\":\"siphon-pack-i00000000000000a-source\" | \"volumeName\":\"pvc-2\"",
                "a claim without a label | " + CLAIMS + " | -target | app.kubernetes.io/managed-by | of",
                "another program | " + JOBS + " | '' | \"image\":\"siphon\" | \"image\":\"other\"",
                "another command | " + JOBS + " | '' | \"dataset\",\"pack\" | \"key\",\"list\"",
                "another volume of the pod | " + JOBS
                        + " | '' | \"claimName\":\"siphon-pack-i00000000000000a-source\" | \"claimName\":\"of-u2\"",
                "a job without a label | " + JOBS + " | '' | app.kubernetes.io/managed-by | of",
            })
    void whatSomebodyElseHasMadeIsNoPackers(String what, String collection, String which, String from, String to) {
        aPackerBegins();
        String path = collection + "/" + PACKER + which;
        String ours = get(path).toString();
        String forged = ours.replaceAll(from, to);
        assertNotEquals(ours, forged, what);
        put(path, JsonParser.parseString(forged).getAsJsonObject());
        if (!collection.equals(JOBS)) {
            var _ = started.orElseThrow().admin().raw(JOBS + "/" + PACKER, "DELETE", "");
        }
        DriverException.InUse refused =
                assertThrows(DriverException.InUse.class, () -> cluster().begin(order()), what);
        assertTrue(refused.getMessage().contains(" " + PACKER + which + " is not the packer's"), refused::getMessage);
        assertEquals(
                collection.equals(JOBS) ? 1 : 0,
                get(JOBS).getAsJsonArray("items").size(),
                "nothing begins");
        assertEquals(
                JsonParser.parseString(forged).getAsJsonObject().get("spec"),
                get(path).get("spec"));
    }

    @Test
    void moreThanAnAdministratorAllowsWait() {
        for (String state : new String[] {"Complete", "Failed", ""}) {
            var _ = post(JOBS, """
                    {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "siphon-pack-%s",
                      "labels": {"app.kubernetes.io/managed-by": "siphon"}},
                     "status": {"conditions": [{"type": "%s", "status": "True"}]}}
                    """.formatted("other" + state.toLowerCase(Locale.ROOT), state));
        }
        atOnce("1");
        var _ = cluster().begin(order());
        comes(PACKER);
        assertEquals(
                new PackerOutcome.Queued("waits: 1 are packed before it"),
                cluster().begin(order()));
        assertEquals(Optional.empty(), cluster().find(PACKER));
        atOnce("2");
        assertEquals(new PackerOutcome.Running("its packer begins"), cluster().begin(order()));
        atOnce("many");
        assertThrows(DriverException.InUse.class, () -> cluster().begin(order()));
    }

    private void atOnce(String many) {
        JsonObject template = get(TEMPLATE);
        JsonObject annotations = new JsonObject();
        annotations.addProperty("siphon.dev/at-once", many);
        template.getAsJsonObject("metadata").add("annotations", annotations);
        put(TEMPLATE, template);
    }

    @Test
    void itsPeopleAreTold() {
        var _ = post("/apis/snapshot.storage.k8s.io/v1/namespaces/siphon/volumesnapshots", """
                {"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot",
                 "metadata": {"name": "v1", "namespace": "siphon"}}
                """);
        cluster().report(new SnapshotRequest("siphon", "v1"), new Notice(false, "DatasetBeingSealed", "7%"));
        JsonObject event = get("/api/v1/namespaces/siphon/events")
                .getAsJsonArray("items")
                .get(0)
                .getAsJsonObject();
        assertEquals(Optional.of("v1"), JsonParts.text(event, "involvedObject", "name"));
        assertEquals(Optional.of("7%"), JsonParts.text(event, "message"));
    }
}

package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.dataset.DatasetCatalog;
import dev.siphon.controller.dataset.DatasetUsageReporter;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetReplica;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// [DatasetUsageReporter] over an API server. No pods run on the nodes of this test.
abstract class DatasetUsersContract extends CreatedObjectsContract {
    private static final String DATASETS = "/" + KubernetesDatasetCatalog.PATH;
    private static final String DIGEST = "0123456789abcdef".repeat(4);

    /// The namespaces of the pods seen, by dataset name.
    final AtomicReference<Map<String, Set<String>>> namespaces = new AtomicReference<>(Map.of());

    void look() {
        try (DatasetUsageReporter users = new DatasetUsageReporter(
                adapter().usingPods(), new InMemoryCeph().ports().clusters(), namespaces::set)) {
            users.reconcile();
        }
    }

    private String namespaced(String plural) {
        return "/api/v1/namespaces/" + cluster().access().namespace() + "/" + plural;
    }

    void declare() {
        var _ = create(DATASETS, """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "Dataset", "metadata": {"name": "%s"},
                 "spec": {"fsName": "cephfs", "path": "%s", "digest": "%s", "readers": ["*"]}}
                """.formatted(dataset(), volume().path(), DIGEST));
    }

    /// Creates a claim with a volume of the dataset or of something else.
    void claim(String name, VolumeId shown) {
        var _ = create("/api/v1/persistentvolumes", """
                {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv-%1$s-%2$s"},
                 "spec": {"accessModes": ["ReadOnlyMany"], "storageClassName": "none", "capacity": {"storage": "1Gi"},
                          "claimRef": {"namespace": "%3$s", "name": "%1$s"},
                          "persistentVolumeReclaimPolicy": "Retain",
                          "csi": {"driver": "cephfs.siphon.dev", "volumeHandle": "%4$s"}}}
                """.formatted(
                        name, unique, cluster().access().namespace(), shown));
    }

    private String dataset() {
        return "u1.x-" + unique;
    }

    VolumeId.DatasetVolume volume() {
        return new VolumeId.DatasetVolume(
                InMemoryCeph.CLUSTER, "cephfs", DIGEST.substring(0, 40), Optional.empty(), "/datasets/" + unique);
    }

    private JsonObject pod(String name, String node, String source) {
        return create(namespaced("pods"), """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s-%s", "namespace": "%s"},
                 "spec": {"serviceAccountName": "siphon-controller", %s
                          "containers": [{"name": "main", "image": "none"}],
                          "volumes": [{"name": "data", %s}]}}
                """.formatted(
                        name,
                        unique,
                        cluster().access().namespace(),
                        node.isEmpty() ? "" : "\"nodeName\": \"" + node + "\",",
                        source));
    }

    private void ofClaim(String name, String node, String claim) {
        var _ = pod(name, node, "\"persistentVolumeClaim\": {\"claimName\": \"" + claim + "\"}");
    }

    private JsonObject naming(String name, String node) {
        return pod(name, node, """
                "csi": {"driver": "cephfs.siphon.dev", "volumeAttributes": {"dataset": "u1/x-%s"}}
                """.formatted(unique));
    }

    /// Grants access as the controller's reply to a node does.
    private void given(JsonObject pod) {
        String name = JsonParts.text(pod, "metadata", "name").orElseThrow();
        String accesses = "/" + KubernetesWarmupCluster.REPLICAS + "namespaces/"
                + cluster().access().namespace() + "/datasetaccesses";
        var _ = create(accesses, """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "DatasetAccess",
                 "metadata": {"name": "csi-%1$s", "namespace": "%2$s"},
                 "spec": {"dataset": "u1/x", "node": "any", "pod": "%1$s", "podUID": "%3$s", "publicKey": "key",
                          "request": "1"}}
                """.formatted(
                        name,
                        cluster().access().namespace(),
                        JsonParts.text(pod, "metadata", "uid").orElseThrow()));
        status(accesses + "/csi-" + name, "{\"volume\": \"" + volume().forUse("0123456789av") + "\"}");
    }

    private void status(String path, String status) {
        JsonObject object = get(path);
        object.add("status", JsonParser.parseString(status));
        var _ = cluster().admin().raw(path + "/status", "PUT", object.toString());
    }

    /// Returns the reported number of pods, and `NODE=PODS(NAMESPACES)`.
    private String written() {
        JsonObject status = JsonParts.object(get(), "status").orElseThrow();
        return JsonParts.number(status, "pods") + ": "
                + JsonParts.each(status, "nodes")
                        .map(node -> JsonParts.text(node, "name").orElse("") + "=" + JsonParts.number(node, "pods")
                                + JsonParts.words(node, "namespaces").toList())
                        .collect(Collectors.joining(" "));
    }

    private JsonObject get() {
        return get(DATASETS + "/" + dataset());
    }

    private JsonObject get(String path) {
        return JsonParser.parseString(cluster().admin().raw(path)).getAsJsonObject();
    }

    @Test
    void aDatasetSaysHowManyPodsUseItOnWhichNodes() {
        declare();
        claim("digits", volume().forUse("0123456789av"));
        claim("same", volume().forUse("vvvvvvvvvvvv"));
        claim("other", new VolumeId.Provisioned(InMemoryCeph.CLUSTER, "cephfs", "a1", "v1"));
        ofClaim("one", "node-a", "digits");
        ofClaim("two", "node-a", "same");
        ofClaim("ended", "node-a", "digits");
        status(namespaced("pods") + "/ended-" + unique, "{\"phase\": \"Succeeded\"}");
        ofClaim("stranger", "node-a", "other");
        ofClaim("waiting", "", "digits");
        given(naming("named", "node-b"));
        var _ = naming("refused", "node-b");
        look();
        String namespace = "[" + cluster().access().namespace() + "]";
        assertEquals("3: node-a=2" + namespace + " node-b=1" + namespace, written());
        assertEquals(Set.of(cluster().access().namespace()), namespaces.get().get(dataset()), "whose pods these are");
    }

    @Test
    void andThatNobodyDoesAnyMore() {
        declare();
        claim("digits", volume().forUse("0123456789av"));
        ofClaim("one", "node-a", "digits");
        adapter().datasets().report(dataset(), new DatasetCatalog.DatasetStatus(true, ""));
        look();
        assertEquals("1: node-a=1[" + cluster().access().namespace() + "]", written());
        cluster().admin().raw(made.removeLast(), "DELETE", NOW);
        look();
        assertEquals("0: ", written());
        assertEquals(Optional.of("true"), JsonParts.text(get(), "status", "ready"), "what else is said stays");
    }

    @Test
    void whatIsWrittenAlreadyIsNotWrittenAgain() {
        declare();
        claim("digits", volume().forUse("0123456789av"));
        ofClaim("one", "node-a", "digits");
        look();
        JsonObject before = get();
        look(); // by the next leader
        assertEquals(before, get());
    }

    @Test
    void aNodeThatIsToHaveAReplicaIsTold() {
        replica("wanted-" + unique, "node-1", true);
        replica("unwanted-" + unique, "node-2", false);
        Set<String> nodes = new TreeSet<>();
        adapter().usingPods().eachReplica((dataset, node) -> {
            if (dataset.equals(volume())) {
                nodes.add(node);
            }
        });
        assertEquals(Set.of("node-1"), nodes);
    }

    private void replica(String name, String node, boolean wanted) {
        var order = new DatasetReplica.Order(dataset(), node, volume(), wanted, Optional.empty());
        var _ = create("/apis/siphon.dev/v1alpha1/datasetreplicas", """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "DatasetReplica", "metadata": {"name": "%s"}, "spec": %s}
                """.formatted(name, order.toSpec()));
    }
}

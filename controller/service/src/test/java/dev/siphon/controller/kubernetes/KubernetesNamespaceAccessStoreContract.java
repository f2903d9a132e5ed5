package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.grant.NamespaceAccess;
import dev.siphon.controller.grant.NamespaceAccess.ReadableDataset;
import dev.siphon.controller.grant.NamespaceAccess.ReplicaSummary;
import dev.siphon.controller.grant.NamespaceAccessStore;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// [KubernetesNamespaceAccessStore] over an API server.
abstract class KubernetesNamespaceAccessStoreContract {
    private final List<KubernetesAdapter> opened = new ArrayList<>();

    /// Each test has its own namespace, because a deleted one remains for a while.
    private String namespace = "";

    abstract TestCluster cluster();

    @BeforeEach
    void makeNamespace() {
        namespace = "team-" + UUID.randomUUID();
        cluster()
                .admin()
                .namespaces()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(namespace)
                        .endMetadata()
                        .build())
                .create();
    }

    @AfterEach
    void removeNamespace() {
        cluster().admin().namespaces().withName(namespace).delete();
        opened.forEach(KubernetesAdapter::close);
    }

    private NamespaceAccessStore open() {
        KubernetesAdapter adapter = cluster().adapter();
        opened.add(adapter);
        return adapter.namespaceAccess();
    }

    private NamespaceAccess.Key key() {
        return new NamespaceAccess.Key(namespace, NamespaceAccess.OBJECT);
    }

    private NamespaceAccess access(SortedMap<String, ReadableDataset> datasets) {
        return new NamespaceAccess(key(), new TreeMap<>(Map.of("lab:cephfs:a00000000000000000001", "u1")), datasets);
    }

    private JsonObject status() {
        return JsonParser.parseString(cluster()
                        .admin()
                        .raw("/apis/siphon.dev/v1alpha1/namespaces/" + namespace + "/namespaceaccesses/siphon"))
                .getAsJsonObject()
                .getAsJsonObject("status");
    }

    private Map<NamespaceAccess.Key, String> digests() {
        return open().digests().orElseThrow().entrySet().stream()
                .filter(each -> each.getKey().namespace().equals(namespace))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    @Test
    void whatIsPutIsSeenAndReplacedAndRemoved() {
        NamespaceAccess first = access(new TreeMap<>(
                Map.of("u1.a", new ReadableDataset(5_000_000_000L, true), "vision", new ReadableDataset(0, false))));
        open().put(first);
        open().put(first);
        assertEquals(Map.of(key(), first.digest()), digests());
        assertEquals("u1", status().get("accountNames").getAsString());
        assertEquals(2, status().get("datasetCount").getAsInt());
        assertEquals(
                "lab:cephfs:a00000000000000000001",
                status().getAsJsonArray("accounts")
                        .get(0)
                        .getAsJsonObject()
                        .get("volumes")
                        .getAsString());
        JsonObject dataset = status().getAsJsonArray("datasets").get(0).getAsJsonObject();
        assertEquals("u1.a", dataset.get("name").getAsString());
        assertEquals(5_000_000_000L, dataset.get("bytes").getAsLong());
        assertTrue(dataset.get("ready").getAsBoolean());
        NamespaceAccess less = access(new TreeMap<>(Map.of("vision", new ReadableDataset(0, true))));
        open().put(less);
        assertEquals(Map.of(key(), less.digest()), digests());
        assertEquals(1, status().getAsJsonArray("datasets").size());
        open().remove(key());
        open().remove(key());
        assertEquals(Map.of(), digests());
    }

    @Test
    void aLineSaysHowLongDatasetsAreAndHowFarTheirReplicas() {
        open().put(access(new TreeMap<>(Map.of(
                "u1.a", new ReadableDataset(5_000_000_000L, true, Optional.of(new ReplicaSummary(1, 2, 1, 40))),
                "u1.b", new ReadableDataset(0, false),
                "vision", new ReadableDataset(1 << 20, true, Optional.of(new ReplicaSummary(0, 0, 0, 100)))))));
        assertEquals(
                "u1.a 4.65 GiB, u1.b (not ready), vision 1 MiB",
                status().get("datasetSizes").getAsString());
        assertEquals(
                "u1.a on 1 node; 40% filled on 2 nodes; failed on 1 node, vision on no node",
                status().get("datasetReplicas").getAsString());
        assertEquals(2, status().get("readyCount").getAsInt());
        JsonObject replicas =
                status().getAsJsonArray("datasets").get(0).getAsJsonObject().getAsJsonObject("replicas");
        assertEquals(
                "{\"failed\":1,\"filling\":2,\"local\":1,\"percent\":40}",
                sorted(replicas).toString());
    }

    private static JsonObject sorted(JsonObject object) {
        JsonObject sorted = new JsonObject();
        new TreeMap<>(object.asMap()).forEach(sorted::add);
        return sorted;
    }

    @Test
    void ofMoreDatasetsThanAnObjectNamesTheOthersAreCounted() {
        NamespaceAccess many = access(new TreeMap<>(IntStream.range(0, 5000)
                .boxed()
                .collect(Collectors.toMap(each -> "u1.set-" + each, _ -> new ReadableDataset(1 << 20, true)))));
        open().put(many);
        assertEquals(Map.of(key(), many.digest()), digests());
        assertEquals(1000, status().getAsJsonArray("datasets").size());
        assertEquals(5000, status().get("datasetCount").getAsInt());
        assertEquals(4000, status().get("moreDatasets").getAsInt());
    }

    @Test
    void whoDescribesItSeesWarnings() {
        NamespaceAccess access = access(new TreeMap<>());
        open().warn(key(), "there is none");
        open().put(access);
        open().warn(key(), "nearly full");
        List<Event> events =
                cluster().admin().v1().events().inNamespace(namespace).list().getItems();
        assertEquals(1, events.size(), events.toString());
        Event event = events.getFirst();
        assertEquals(
                "Warning NearlyFull: nearly full",
                event.getType() + " " + event.getReason() + ": " + event.getMessage());
        String uid = JsonParser.parseString(cluster()
                        .admin()
                        .raw("/apis/siphon.dev/v1alpha1/namespaces/" + namespace + "/namespaceaccesses/siphon"))
                .getAsJsonObject()
                .getAsJsonObject("metadata")
                .get("uid")
                .getAsString();
        assertEquals(uid, event.getInvolvedObject().getUid());
        assertEquals("NamespaceAccess", event.getInvolvedObject().getKind());
    }
}

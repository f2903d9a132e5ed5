package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/// On the kube-apiserver of the kubeconfig that SIPHON_TEST_KUBECONFIG names, as an administrator of it.
@Tag("kubernetes")
final class KubernetesGrantsIT extends ApiGrantsContract {
    private static final String NAMESPACE = "siphon-it-" + UUID.randomUUID();
    private static final String NAMESPACES = "/api/v1/namespaces";
    private static final String MAPS = NAMESPACES + "/" + NAMESPACE + "/configmaps";
    private static final String MAP = MAPS + "/" + GrantsConfigMap.NAME;
    private static final String JSON = "application/json";

    private static ApiConnection administrator() {
        return ApiConnection.to(kubeconfig());
    }

    private static ApiAccess kubeconfig() {
        return new ApiAccess.Kubeconfig(Path.of(Objects.requireNonNull(
                System.getenv("SIPHON_TEST_KUBECONFIG"),
                "SIPHON_TEST_KUBECONFIG: the test runs on a Kubernetes only")));
    }

    @BeforeAll
    static void makeNamespace() {
        try (ApiConnection api = administrator()) {
            JsonObject namespace = object("v1", "Namespace", NAMESPACE);
            expect(api.send(NAMESPACES, request -> request.post(JSON, namespace.toString())), 201);
        }
    }

    @AfterAll
    static void removeNamespace() {
        try (ApiConnection api = administrator()) {
            expect(api.send(NAMESPACES + "/" + NAMESPACE, request -> request.delete(JSON, "{}")), 200, 202);
        }
    }

    @Override
    ApiAccess access() {
        return kubeconfig();
    }

    @Override
    String namespace() {
        return NAMESPACE;
    }

    @Override
    protected void publish(String text) {
        JsonObject data = new JsonObject();
        data.addProperty(GrantsConfigMap.KEY, text);
        JsonObject map = object("v1", "ConfigMap", GrantsConfigMap.NAME);
        map.add("data", data);
        try (ApiConnection api = administrator()) {
            if (api.get(MAP).status() == 404) {
                expect(api.send(MAPS, request -> request.post(JSON, map.toString())), 201);
            } else {
                expect(api.send(MAP, request -> request.put(JSON, map.toString())), 200);
            }
        }
    }

    @Override
    protected void remove() {
        try (ApiConnection api = administrator()) {
            expect(api.send(MAP, request -> request.delete(JSON, "{}")), 200, 404);
        }
    }

    private static JsonObject object(String version, String kind, String name) {
        JsonObject metadata = new JsonObject();
        metadata.addProperty("name", name);
        JsonObject object = new JsonObject();
        object.addProperty("apiVersion", version);
        object.addProperty("kind", kind);
        object.add("metadata", metadata);
        return object;
    }

    private static void expect(ApiConnection.Reply reply, int... statuses) {
        assertTrue(Arrays.stream(statuses).anyMatch(status -> status == reply.status()), reply::toString);
    }
}

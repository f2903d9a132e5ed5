package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.UUID;

/// A namespace for one test, on the kube-apiserver of the kubeconfig in SIPHON_TEST_KUBECONFIG.
final class TestNamespace {
    static final String JSON = "application/json";
    private static final String NAMESPACES = "/api/v1/namespaces";

    private final String name = "siphon-it-" + UUID.randomUUID();

    static ApiConnection administrator() {
        return ApiConnection.to(kubeconfig());
    }

    static ApiAccess kubeconfig() {
        return new ApiAccess.Kubeconfig(Path.of(Objects.requireNonNull(
                System.getenv("SIPHON_TEST_KUBECONFIG"),
                "SIPHON_TEST_KUBECONFIG: the test runs on a Kubernetes only")));
    }

    String name() {
        return name;
    }

    String path() {
        return NAMESPACES + "/" + name;
    }

    void make() {
        try (ApiConnection api = administrator()) {
            JsonObject namespace = object("v1", "Namespace", name);
            expect(api.send(NAMESPACES, request -> request.post(JSON, namespace.toString())), 201);
        }
    }

    void remove() {
        try (ApiConnection api = administrator()) {
            expect(api.send(path(), request -> request.delete(JSON, "{}")), 200, 202);
        }
    }

    static JsonObject object(String version, String kind, String name) {
        JsonObject metadata = new JsonObject();
        metadata.addProperty("name", name);
        JsonObject object = new JsonObject();
        object.addProperty("apiVersion", version);
        object.addProperty("kind", kind);
        object.add("metadata", metadata);
        return object;
    }

    static void expect(ApiConnection.Reply reply, int... statuses) {
        assertTrue(Arrays.stream(statuses).anyMatch(status -> status == reply.status()), reply::toString);
    }
}

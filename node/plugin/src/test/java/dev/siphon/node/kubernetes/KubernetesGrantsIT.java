package dev.siphon.node.kubernetes;

import com.google.gson.JsonObject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/// Runs as administrator on the kube-apiserver of the kubeconfig in SIPHON_TEST_KUBECONFIG.
@Tag("kubernetes")
final class KubernetesGrantsIT extends ApiGrantsContract {
    private static final TestNamespace NAMESPACE = new TestNamespace();
    private static final String MAPS = NAMESPACE.path() + "/configmaps";
    private static final String MAP = MAPS + "/" + GrantsConfigMap.NAME;

    @BeforeAll
    static void makeNamespace() {
        NAMESPACE.make();
    }

    @AfterAll
    static void removeNamespace() {
        NAMESPACE.remove();
    }

    @Override
    ApiAccess access() {
        return TestNamespace.kubeconfig();
    }

    @Override
    String namespace() {
        return NAMESPACE.name();
    }

    @Override
    protected void publish(String text) {
        JsonObject data = new JsonObject();
        data.addProperty(GrantsConfigMap.KEY, text);
        JsonObject map = TestNamespace.object("v1", "ConfigMap", GrantsConfigMap.NAME);
        map.add("data", data);
        try (ApiConnection api = TestNamespace.administrator()) {
            if (api.get(MAP).status() == 404) {
                TestNamespace.expect(api.send(MAPS, request -> request.post(TestNamespace.JSON, map.toString())), 201);
            } else {
                TestNamespace.expect(api.send(MAP, request -> request.put(TestNamespace.JSON, map.toString())), 200);
            }
        }
    }

    @Override
    protected void remove() {
        try (ApiConnection api = TestNamespace.administrator()) {
            TestNamespace.expect(api.send(MAP, request -> request.delete(TestNamespace.JSON, "{}")), 200, 404);
        }
    }
}

package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Runs as administrator on the kube-apiserver of the kubeconfig in SIPHON_TEST_KUBECONFIG, with two service
/// accounts. One is bound to a role like the chart's `siphon-metrics`.
@Tag("kubernetes")
final class KubernetesMetricsReadersIT {
    private static final String RBAC = "/apis/rbac.authorization.k8s.io/v1";
    private static final String ROLES = RBAC + "/clusterroles";
    private static final String BINDINGS = RBAC + "/clusterrolebindings";

    private final TestNamespace namespace = new TestNamespace();

    @BeforeEach
    void make() {
        namespace.make();
        create(namespace.path() + "/serviceaccounts", TestNamespace.object("v1", "ServiceAccount", "scraper"));
        create(namespace.path() + "/serviceaccounts", TestNamespace.object("v1", "ServiceAccount", "other"));
        JsonObject role = TestNamespace.object("rbac.authorization.k8s.io/v1", "ClusterRole", namespace.name());
        role.add("rules", JsonParser.parseString("[{\"nonResourceURLs\": [\"/metrics\"], \"verbs\": [\"get\"]}]"));
        create(ROLES, role);
        JsonObject binding =
                TestNamespace.object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", namespace.name());
        binding.add("roleRef", JsonParser.parseString("""
                {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "%s"}
                """.formatted(namespace.name())));
        binding.add("subjects", JsonParser.parseString("""
                [{"kind": "ServiceAccount", "name": "scraper", "namespace": "%s"}]
                """.formatted(namespace.name())));
        create(BINDINGS, binding);
    }

    @AfterEach
    void remove() {
        try (ApiConnection api = TestNamespace.administrator()) {
            for (String each : new String[] {BINDINGS, ROLES}) {
                TestNamespace.expect(
                        api.send(each + "/" + namespace.name(), request -> request.delete(TestNamespace.JSON, "{}")),
                        200);
            }
        }
        namespace.remove();
    }

    @Test
    void onlyWhoIsBoundMayRead() {
        try (MetricsReaders readers = new MetricsReaders(TestNamespace.kubeconfig())) {
            String scraper = token("scraper");
            assertTrue(readers.admits(scraper));
            assertTrue(readers.admits(scraper), "as remembered");
            assertFalse(readers.admits(token("other")), "it is known, and not bound");
            assertFalse(readers.admits(scraper.substring(0, scraper.length() - 8)), "it is not signed");
            assertFalse(readers.admits("made up"));
        }
    }

    private String token(String account) {
        JsonObject request = TestNamespace.object("authentication.k8s.io/v1", "TokenRequest", account);
        request.add("spec", new JsonObject());
        return create(namespace.path() + "/serviceaccounts/" + account + "/token", request)
                .getAsJsonObject("status")
                .get("token")
                .getAsString();
    }

    private static JsonObject create(String path, JsonObject object) {
        try (ApiConnection api = TestNamespace.administrator()) {
            ApiConnection.Reply reply = api.send(path, request -> request.post(TestNamespace.JSON, object.toString()));
            assertEquals(201, reply.status(), reply::toString);
            return JsonParser.parseString(reply.body()).getAsJsonObject();
        }
    }
}

package dev.siphon.node.kubernetes;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.node.pod.Pod;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/// Runs as administrator on the kube-apiserver of the kubeconfig in SIPHON_TEST_KUBECONFIG. The pods are not
/// scheduled, but must exist: otherwise the claim controller removes their reservations.
@Tag("kubernetes")
final class KubernetesClaimsIT extends DeviceClaimsContract {
    private static final TestNamespace NAMESPACE = new TestNamespace();
    private static final String GROUP = "/apis/resource.k8s.io/v1";
    private static final String SLICES = GROUP + "/resourceslices";

    private final List<String> slices = new ArrayList<>();

    @BeforeAll
    static void makeNamespace() {
        NAMESPACE.make();
        try (ApiConnection api = TestNamespace.administrator()) {
            // or the account that every new namespace gets, a little later
            JsonObject account = TestNamespace.object("v1", "ServiceAccount", "default");
            TestNamespace.expect(
                    api.send(
                            NAMESPACE.path() + "/serviceaccounts",
                            request -> request.post(TestNamespace.JSON, account.toString())),
                    201,
                    409);
        }
    }

    @AfterAll
    static void removeNamespace() {
        NAMESPACE.remove();
    }

    @AfterEach
    void removeSlices() {
        try (ApiConnection api = TestNamespace.administrator()) {
            slices.forEach(name -> TestNamespace.expect(
                    api.send(SLICES + "/" + name, request -> request.delete(TestNamespace.JSON, "{}")), 200));
        }
    }

    @Override
    ApiAccess access() {
        return TestNamespace.kubeconfig();
    }

    @Override
    Pod pod(String name) {
        JsonObject pod = post(NAMESPACE.path() + "/pods", json("""
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s"},
                 "spec": {"schedulerName": "nobody", "containers": [{"name": "main", "image": "none"}]}}""".formatted(name)));
        return new Pod(
                NAMESPACE.name(),
                name,
                pod.getAsJsonObject("metadata").get("uid").getAsString());
    }

    @Override
    void slice(JsonObject slice) {
        post(SLICES, slice);
        slices.add(name(slice));
    }

    @Override
    void claim(JsonObject claim) {
        String path = GROUP + "/namespaces/" + NAMESPACE.name() + "/resourceclaims";
        JsonObject made = post(path, claim);
        made.add("status", claim.get("status"));
        try (ApiConnection api = TestNamespace.administrator()) {
            TestNamespace.expect(
                    api.send(
                            path + "/" + name(claim) + "/status",
                            request -> request.put(TestNamespace.JSON, made.toString())),
                    200);
        }
    }

    private static JsonObject post(String path, JsonObject object) {
        try (ApiConnection api = TestNamespace.administrator()) {
            ApiConnection.Reply reply = api.send(path, request -> request.post(TestNamespace.JSON, object.toString()));
            TestNamespace.expect(reply, 201);
            return JsonParser.parseString(reply.body()).getAsJsonObject();
        }
    }

    private static String name(JsonObject object) {
        return object.getAsJsonObject("metadata").get("name").getAsString();
    }
}

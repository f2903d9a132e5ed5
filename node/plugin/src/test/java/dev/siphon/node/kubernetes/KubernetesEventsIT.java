package dev.siphon.node.kubernetes;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.node.pod.Pod;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/// Runs as administrator on the kube-apiserver of the kubeconfig in SIPHON_TEST_KUBECONFIG.
@Tag("kubernetes")
final class KubernetesEventsIT extends PodEventsContract {
    private static final TestNamespace NAMESPACE = new TestNamespace();

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
    List<JsonObject> nodeEvents(String node) {
        return events("/api/v1/namespaces/default", node, node);
    }

    @Override
    List<JsonObject> events(Pod pod) {
        return events(NAMESPACE.path(), pod.name(), pod.uid());
    }

    private static List<JsonObject> events(String namespace, String name, String uid) {
        try (ApiConnection api = TestNamespace.administrator()) {
            String selector = "?fieldSelector=involvedObject.name=" + name + ",involvedObject.uid=" + uid;
            ApiConnection.Reply reply = api.get(namespace + "/events" + selector);
            TestNamespace.expect(reply, 200);
            return StreamSupport.stream(
                            JsonParser.parseString(reply.body())
                                    .getAsJsonObject()
                                    .getAsJsonArray("items")
                                    .spliterator(),
                            false)
                    .map(JsonElement::getAsJsonObject)
                    .toList();
        }
    }
}

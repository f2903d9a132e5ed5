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

/// On the kube-apiserver of the kubeconfig that SIPHON_TEST_KUBECONFIG names, as an administrator of it.
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
    List<JsonObject> events(Pod pod) {
        try (ApiConnection api = TestNamespace.administrator()) {
            String selector = "?fieldSelector=involvedObject.name=" + pod.name() + ",involvedObject.uid=" + pod.uid();
            ApiConnection.Reply reply = api.get(NAMESPACE.path() + "/events" + selector);
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

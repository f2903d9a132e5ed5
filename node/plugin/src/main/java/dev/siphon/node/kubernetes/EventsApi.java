package dev.siphon.node.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.pod.PodEvents;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/// Events as objects of the Kubernetes API (core/v1, Event), where `kubectl describe pod` finds them.
///
/// Connects for each, since events are rare.
public final class EventsApi implements PodEvents {
    private static final String JSON = "application/json";

    private final ApiAccess access;
    private final String driver;
    private final NodeId node;

    /// @param driver who says so
    /// @param node where
    public EventsApi(ApiAccess access, String driver, NodeId node) {
        this.access = access;
        this.driver = driver;
        this.node = node;
    }

    @Override
    public void add(Pod pod, Event event) {
        JsonObject involved = involved("Pod", pod.name(), pod.uid());
        involved.addProperty("namespace", pod.namespace());
        add(pod.namespace(), involved, event);
    }

    /// Adds an event to this node, where `kubectl describe node` finds it. Twice is two events.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it is not taken
    public void addToNode(Event event) {
        // as the kubelet names a node in its own events
        add("default", involved("Node", node.name(), node.name()), event);
    }

    private static JsonObject involved(String kind, String name, String uid) {
        JsonObject involved = new JsonObject();
        involved.addProperty("apiVersion", "v1");
        involved.addProperty("kind", kind);
        involved.addProperty("name", name);
        involved.addProperty("uid", uid);
        return involved;
    }

    private void add(String namespace, JsonObject involved, Event event) {
        try (ApiConnection api = ApiConnection.to(access)) {
            ApiConnection.Reply reply = api.send(
                    "/api/v1/namespaces/" + namespace + "/events",
                    request ->
                            request.post(JSON, json(namespace, involved, event).toString()));
            if (reply.status() != HttpURLConnection.HTTP_CREATED) {
                throw new DriverException.BackendUnavailable("the event was rejected: " + reply.describe());
            }
        }
    }

    private JsonObject json(String namespace, JsonObject involved, Event event) {
        JsonObject metadata = new JsonObject();
        metadata.addProperty("generateName", "siphon-");
        metadata.addProperty("namespace", namespace);
        JsonObject source = new JsonObject();
        source.addProperty("component", driver);
        source.addProperty("host", node.toString());
        String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        JsonObject json = new JsonObject();
        json.addProperty("apiVersion", "v1");
        json.addProperty("kind", "Event");
        json.add("metadata", metadata);
        json.add("involvedObject", involved);
        json.add("source", source);
        json.addProperty("reportingComponent", driver);
        json.addProperty("reportingInstance", node.toString());
        json.addProperty("type", event.type().text());
        json.addProperty("reason", event.reason());
        json.addProperty("message", event.message());
        json.addProperty("firstTimestamp", now);
        json.addProperty("lastTimestamp", now);
        json.addProperty("count", 1);
        return json;
    }
}

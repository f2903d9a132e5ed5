package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/// Creates events, which people see when they describe an object.
final class ObjectEvents {
    /// Longest message that an API server accepts.
    private static final int MOST_MESSAGE = 1000;

    /// The reason of events about objects that are nearly full.
    static final String NEARLY_FULL = "NearlyFull";

    private final KubernetesApi api;
    private final String driver;

    /// @param driver the CSI driver's name
    ObjectEvents(KubernetesApi api, String driver) {
        this.api = api;
        this.driver = driver;
    }

    /// The object of an event.
    record About(String version, String kind, String namespace, String name, String uid) {
        /// The parts to read of any object.
        static final Keep PARTS = Keep.of("apiVersion", "kind", "metadata.namespace", "metadata.name", "metadata.uid");

        static About of(JsonObject object) {
            return new About(
                    JsonParts.text(object, "apiVersion").orElse(""),
                    JsonParts.text(object, "kind").orElse(""),
                    JsonParts.text(object, "metadata", "namespace").orElse(""),
                    JsonParts.text(object, "metadata", "name").orElse(""),
                    JsonParts.text(object, "metadata", "uid").orElse(""));
        }
    }

    /// Adds a warning to an object; does nothing if the object does not exist.
    ///
    /// @param path of the object, made of checked names
    void warn(String object, String path, String reason, String message) {
        ObjectParts.find(api, "get " + object, path, About.PARTS)
                .map(found -> About.of(found.kept()))
                .ifPresent(about -> add(about, true, reason, message));
    }

    /// Adds an event; does nothing if the object's namespace is deleted or terminating.
    void add(About about, boolean warning, String reason, String message) {
        JsonObject event = new JsonObject();
        JsonObject metadata = new JsonObject();
        metadata.addProperty("generateName", "siphon-");
        metadata.addProperty("namespace", about.namespace());
        event.add("metadata", metadata);
        JsonObject involved = new JsonObject();
        involved.addProperty("apiVersion", about.version());
        involved.addProperty("kind", about.kind());
        involved.addProperty("namespace", about.namespace());
        involved.addProperty("name", about.name());
        involved.addProperty("uid", about.uid());
        event.add("involvedObject", involved);
        JsonObject source = new JsonObject();
        source.addProperty("component", driver);
        event.add("source", source);
        String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        event.addProperty("apiVersion", "v1");
        event.addProperty("kind", "Event");
        event.addProperty("reportingComponent", driver);
        event.addProperty("reportingInstance", "siphon-controller");
        event.addProperty("type", warning ? "Warning" : "Normal");
        event.addProperty("reason", reason);
        event.addProperty("message", message.substring(0, Math.min(message.length(), MOST_MESSAGE)));
        event.addProperty("firstTimestamp", now);
        event.addProperty("lastTimestamp", now);
        event.addProperty("count", 1);
        boolean _ = api.send(
                "create Event of " + about.kind() + " " + about.namespace() + "/" + about.name(),
                List.of(HttpURLConnection.HTTP_NOT_FOUND, HttpURLConnection.HTTP_FORBIDDEN), // it is terminating
                "api/v1/namespaces/" + about.namespace() + "/events",
                request -> request.post("application/json", event.toString()));
    }
}

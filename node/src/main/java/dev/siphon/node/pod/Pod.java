package dev.siphon.node.pod;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/// A pod of Kubernetes.
///
/// @param namespace an RFC 1123 label
/// @param name an RFC 1123 subdomain
/// @param uid which of all pods that ever had that name; empty of one of which only the name is known
public record Pod(String namespace, String name, String uid) {
    /// What the kubelet calls the pod's namespace in the volume context (`podInfoOnMount` of the CSIDriver object).
    public static final String NAMESPACE = "csi.storage.k8s.io/pod.namespace";

    /// Its name there.
    public static final String NAME = "csi.storage.k8s.io/pod.name";

    /// Its uid there.
    public static final String UID = "csi.storage.k8s.io/pod.uid";

    private static final Pattern LABEL = Pattern.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");
    private static final Pattern SUBDOMAIN = Pattern.compile("[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?");
    private static final Pattern UNIQUE = Pattern.compile("[A-Za-z0-9-]{1,63}");

    /// One of which only the name is known.
    public static Pod named(String namespace, String name) {
        return new Pod(namespace, name, "");
    }

    /// The pod that a publish is for; empty if the orchestrator says of none, or of one that none can be.
    public static Optional<Pod> ofContext(Map<String, String> context) {
        return of(key -> Optional.ofNullable(context.get(key)));
    }

    /// Reads what [#toJson] wrote; empty if it is something else.
    static Optional<Pod> parse(String text) {
        try {
            JsonObject json = JsonParser.parseString(text).getAsJsonObject();
            return of(key -> Optional.ofNullable(json.get(key))
                    .filter(JsonElement::isJsonPrimitive)
                    .map(JsonElement::getAsString));
        } catch (JsonParseException | IllegalStateException _) {
            return Optional.empty();
        }
    }

    private static Optional<Pod> of(Function<String, Optional<String>> field) {
        Optional<String> namespace =
                field.apply(NAMESPACE).filter(text -> LABEL.matcher(text).matches());
        Optional<String> name =
                field.apply(NAME).filter(text -> SUBDOMAIN.matcher(text).matches());
        Optional<String> uid =
                field.apply(UID).filter(text -> UNIQUE.matcher(text).matches());
        return namespace.flatMap(in -> name.flatMap(called -> uid.map(unique -> new Pod(in, called, unique))));
    }

    /// One JSON object.
    String toJson() {
        JsonObject json = new JsonObject();
        json.addProperty(NAMESPACE, namespace);
        json.addProperty(NAME, name);
        json.addProperty(UID, uid);
        return json.toString();
    }
}

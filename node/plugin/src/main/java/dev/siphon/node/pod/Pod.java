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
/// @param uid distinguishes it from all pods that ever had that name; empty if only the name is known
public record Pod(String namespace, String name, String uid) {
    /// The kubelet's key for the pod's namespace in the volume context (`podInfoOnMount` of the CSIDriver object).
    public static final String NAMESPACE = "csi.storage.k8s.io/pod.namespace";

    /// The key for its name.
    public static final String NAME = "csi.storage.k8s.io/pod.name";

    /// The key for its uid.
    public static final String UID = "csi.storage.k8s.io/pod.uid";

    /// The key that is `true` for an inline volume (`pkg/volume/csi` of Kubernetes).
    private static final String EPHEMERAL = "csi.storage.k8s.io/ephemeral";

    private static final Pattern LABEL = Pattern.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");
    private static final Pattern SUBDOMAIN = Pattern.compile("[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?");
    private static final Pattern UNIQUE = Pattern.compile("[A-Za-z0-9-]{1,63}");

    /// Returns a pod of which only the name is known.
    public static Pod named(String namespace, String name) {
        return new Pod(namespace, name, "");
    }

    /// Returns the pod that a volume is published for; empty if the orchestrator reports none, or an invalid one.
    public static Optional<Pod> ofContext(Map<String, String> context) {
        return of(key -> Optional.ofNullable(context.get(key)));
    }

    /// Returns whether the kubelet marks a volume as inline.
    public static boolean hasInline(Map<String, String> context) {
        return context.getOrDefault(EPHEMERAL, "").equals("true");
    }

    /// Parses what [#toJson] wrote; empty for anything else.
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

    /// Returns a JSON object.
    String toJson() {
        JsonObject json = new JsonObject();
        json.addProperty(NAMESPACE, namespace);
        json.addProperty(NAME, name);
        json.addProperty(UID, uid);
        return json.toString();
    }
}

package dev.siphon.controller.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.warm.PodPlacement;

/// The node affinity of a pod that waits at the gate, as JSON arrays (Kubernetes API, `NodeAffinity`).
///
/// @param preferred `preferredDuringSchedulingIgnoredDuringExecution`; "" for none
/// @param terms the `nodeSelectorTerms` of `requiredDuringSchedulingIgnoredDuringExecution`; "" for none
record NodeAffinity(String preferred, String terms) {
    /// No affinity.
    static final NodeAffinity NONE = new NodeAffinity("", "");

    private static final String SPEC = "spec";
    private static final String AFFINITY = "affinity";
    private static final String NODE_AFFINITY = "nodeAffinity";
    private static final String PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
    private static final String REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
    private static final String TERMS = "nodeSelectorTerms";
    private static final String EXPRESSIONS = "matchExpressions";
    private static final String FIELDS = "matchFields";
    private static final int MOST_PREFERRED = 100;

    /// Reads a pod's.
    static NodeAffinity of(JsonObject pod) {
        return new NodeAffinity(
                array(pod, SPEC, AFFINITY, NODE_AFFINITY, PREFERRED),
                array(pod, SPEC, AFFINITY, NODE_AFFINITY, REQUIRED, TERMS));
    }

    private static String array(JsonObject pod, String... path) {
        return JsonParts.at(pod, path)
                .filter(JsonElement::isJsonArray)
                .map(JsonElement::toString)
                .orElse("");
    }

    /// Returns the pod's `affinity` with these nodes added, for a merge patch. Kubernetes lets a gated pod's required
    /// terms only become narrower ("Pod Scheduling Readiness"), so each of them gets the nodes.
    JsonObject with(PodPlacement placement) {
        JsonObject here = new JsonObject();
        here.addProperty("key", "kubernetes.io/hostname");
        here.addProperty("operator", "In");
        JsonArray values = new JsonArray();
        placement.hostnames().forEach(values::add);
        here.add("values", values);
        JsonObject nodeAffinity = new JsonObject();
        if (placement.isRequired()) {
            JsonObject required = new JsonObject();
            required.add(TERMS, narrowed(here));
            nodeAffinity.add(REQUIRED, required);
        } else {
            nodeAffinity.add(PREFERRED, extended(here));
        }
        JsonObject affinity = new JsonObject();
        affinity.add(NODE_AFFINITY, nodeAffinity);
        return affinity;
    }

    /// Leaves out empty terms, which match nothing: the API server refuses any addition to them.
    private JsonArray narrowed(JsonObject here) {
        JsonArray narrowed = parsed(terms);
        if (narrowed.isEmpty()) {
            narrowed.add(term(here));
            return narrowed;
        }
        for (JsonElement each : narrowed) {
            if (each instanceof JsonObject term && !(isEmpty(term, EXPRESSIONS) && isEmpty(term, FIELDS))) {
                JsonArray expressions = term.get(EXPRESSIONS) instanceof JsonArray found ? found : new JsonArray();
                expressions.add(here);
                term.add(EXPRESSIONS, expressions);
            }
        }
        return narrowed;
    }

    private static boolean isEmpty(JsonObject term, String list) {
        return !(term.get(list) instanceof JsonArray found) || found.isEmpty();
    }

    private static JsonObject term(JsonObject here) {
        JsonArray expressions = new JsonArray();
        expressions.add(here);
        JsonObject term = new JsonObject();
        term.add(EXPRESSIONS, expressions);
        return term;
    }

    private JsonArray extended(JsonObject here) {
        JsonObject preference = new JsonObject();
        preference.addProperty("weight", MOST_PREFERRED);
        preference.add("preference", term(here));
        JsonArray extended = parsed(preferred);
        extended.add(preference);
        return extended;
    }

    private static JsonArray parsed(String array) {
        return array.isEmpty() ? new JsonArray() : JsonParser.parseString(array).getAsJsonArray();
    }
}

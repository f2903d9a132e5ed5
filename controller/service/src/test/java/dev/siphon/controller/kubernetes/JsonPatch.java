package dev.siphon.controller.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.Arrays;

/// The part of an API server's patches that the adapter uses.
final class JsonPatch {
    private JsonPatch() {}

    /// Applies a merge patch (RFC 7396), without nulls.
    ///
    /// @param strategic whether lists are merged too (Kubernetes, "strategic merge patch"), by the key `type`
    static void merge(JsonObject into, JsonObject change, boolean strategic) {
        change.entrySet().forEach(entry -> {
            JsonElement before = into.get(entry.getKey());
            if (entry.getValue() instanceof JsonObject deeper && before instanceof JsonObject old) {
                merge(old, deeper, strategic);
            } else if (strategic && entry.getValue() instanceof JsonArray more && before instanceof JsonArray old) {
                more.forEach(each -> mergeByType(old, each.getAsJsonObject()));
            } else {
                into.add(entry.getKey(), entry.getValue());
            }
        });
    }

    private static void mergeByType(JsonArray into, JsonObject change) {
        for (JsonElement each : into) {
            if (each.getAsJsonObject().get("type").equals(change.get("type"))) {
                merge(each.getAsJsonObject(), change, true);
                return;
            }
        }
        into.add(change);
    }

    /// Applies a JSON patch (RFC 6902) to an object: `test` and `add`.
    ///
    /// @return false if a test fails
    static boolean change(JsonObject object, JsonArray operations) {
        for (JsonElement each : operations) {
            JsonObject operation = each.getAsJsonObject();
            String[] names = operation.get("path").getAsString().split("/", -1);
            JsonObject parent = object;
            for (String name : Arrays.asList(names).subList(1, names.length - 1)) {
                parent = parent.getAsJsonObject(name);
            }
            String last = names[names.length - 1];
            if (operation.get("op").getAsString().equals("add")) {
                parent.add(last, operation.get("value"));
            } else if (!operation.get("value").equals(parent.get(last))) {
                return false;
            }
        }
        return true;
    }
}

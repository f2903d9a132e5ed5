package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/// A change of an object in [InMemoryApiServer], as watches report it.
///
/// @param before empty for a new object
/// @param after empty for a deleted object
record ObjectChange(long version, String path, Optional<JsonObject> before, Optional<JsonObject> after) {
    /// Writes the watch event if its selector matches the old or new object.
    void tell(String selector, OutputStream out) throws IOException {
        Optional<JsonObject> old = before.filter(object -> selects(object, selector));
        Optional<JsonObject> now = after.filter(object -> selects(object, selector));
        Optional<String> type =
                now.map(_ -> old.isPresent() ? "MODIFIED" : "ADDED").or(() -> old.map(_ -> "DELETED"));
        if (type.isPresent()) {
            JsonObject object = now.or(() -> old).orElseThrow().deepCopy();
            object.getAsJsonObject("metadata").addProperty("resourceVersion", Long.toString(version));
            send(type.get(), object, out);
        }
    }

    static void send(String type, JsonObject object, OutputStream out) throws IOException {
        JsonObject event = new JsonObject();
        event.addProperty("type", type);
        event.add("object", object);
        out.write((event + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    /// Returns whether a field selector (Kubernetes, "Field Selectors") matches.
    static boolean selects(JsonObject object, String selector) {
        return Arrays.stream(selector.split(",", -1))
                .filter(each -> !each.isEmpty())
                .allMatch(each -> {
                    String[] pair = each.split("!?=", 2);
                    String value =
                            JsonParts.text(object, pair[0].split("\\.", -1)).orElse("");
                    return value.equals(pair[1]) != each.contains("!=");
                });
    }
}

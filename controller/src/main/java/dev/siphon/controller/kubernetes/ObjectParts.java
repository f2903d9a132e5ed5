package dev.siphon.controller.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/// Lists of objects of which only some parts are kept; read as they come, since the rest of an object that a user made
/// may be 1.5 MiB, and many times that once it is parsed.
final class ObjectParts {
    private ObjectParts() {}

    /// What is kept of one object; empty if there is none.
    ///
    /// @param doing as of [KubernetesApi#find]
    /// @param path the object's
    /// @param keep as of [#list]
    static Optional<JsonObject> find(KubernetesApi api, String doing, String path, Set<String> keep) {
        return api.read(doing, path, body -> object(reader(body), "", keep));
    }

    /// Hands over what is kept of each object, page after page.
    ///
    /// @param doing as of [KubernetesApi#find]
    /// @param path of the collection, with the limit of a page, and which of them
    /// @param keep the parts, by the names on the way to them: `spec.nodeName`, and `spec.containers.name` of each
    /// @return false if the cluster has no such kind
    static boolean list(KubernetesApi api, String doing, String path, Set<String> keep, Consumer<JsonObject> each) {
        String next = "";
        do {
            String from = next.isEmpty() ? "" : "&continue=" + URLEncoder.encode(next, StandardCharsets.UTF_8);
            Optional<String> more = api.read(doing, path + from, body -> page(body, keep, each));
            if (more.isEmpty()) {
                return false;
            }
            next = more.get();
        } while (!next.isEmpty());
        return true;
    }

    /// @return where the next page begins; "" after the last one
    private static String page(InputStream body, Set<String> keep, Consumer<JsonObject> each) throws IOException {
        JsonReader reader = reader(body);
        String next = "";
        reader.beginObject();
        while (reader.hasNext()) {
            switch (reader.nextName()) {
                case "metadata" ->
                    next = JsonParts.text(object(reader, "", Set.of("continue")), "continue")
                            .orElse("");
                case "items" -> {
                    reader.beginArray();
                    while (reader.hasNext()) {
                        each.accept(object(reader, "", keep));
                    }
                    reader.endArray();
                }
                default -> reader.skipValue();
            }
        }
        reader.endObject();
        return next;
    }

    private static JsonReader reader(InputStream body) {
        return new JsonReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    }

    /// What is on the way to a part: of an array that of each of its elements.
    private static JsonElement way(JsonReader reader, String at, Set<String> keep) throws IOException {
        if (reader.peek() != JsonToken.BEGIN_ARRAY) {
            return object(reader, at, keep);
        }
        JsonArray elements = new JsonArray();
        reader.beginArray();
        while (reader.hasNext()) {
            elements.add(object(reader, at, keep));
        }
        reader.endArray();
        return elements;
    }

    /// @param at the names on the way here, with a dot behind each
    private static JsonObject object(JsonReader reader, String at, Set<String> keep) throws IOException {
        JsonObject kept = new JsonObject();
        if (reader.peek() != JsonToken.BEGIN_OBJECT) {
            reader.skipValue();
            return kept;
        }
        reader.beginObject();
        while (reader.hasNext()) {
            String name = reader.nextName();
            String below = at + name + ".";
            if (keep.contains(at + name)) {
                kept.add(name, JsonParser.parseReader(reader));
            } else if (keep.stream().anyMatch(part -> part.startsWith(below))) {
                kept.add(name, way(reader, below, keep));
            } else {
                reader.skipValue();
            }
        }
        reader.endObject();
        return kept;
    }
}

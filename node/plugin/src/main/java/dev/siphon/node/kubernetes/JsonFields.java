package dev.siphon.node.kubernetes;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/// Fields of an object as it comes, without the others ever being in memory: a few bytes of text may be a hundred as
/// objects. One of another form than is asked for is as one that is not there.
final class JsonFields {
    private JsonFields() {}

    /// Reads one value, all of it.
    @FunctionalInterface
    interface Reading {
        void read(JsonReader json) throws IOException;
    }

    static void object(JsonReader json, Map<String, Reading> known) throws IOException {
        if (json.peek() != JsonToken.BEGIN_OBJECT) {
            json.skipValue();
            return;
        }
        json.beginObject();
        while (json.hasNext()) {
            known.getOrDefault(json.nextName(), JsonReader::skipValue).read(json);
        }
        json.endObject();
    }

    static void array(JsonReader json, Reading each) throws IOException {
        if (json.peek() != JsonToken.BEGIN_ARRAY) {
            json.skipValue();
            return;
        }
        json.beginArray();
        while (json.hasNext()) {
            each.read(json);
        }
        json.endArray();
    }

    /// Texts of an object, and those of its booleans that are true, as `true`.
    static Map<String, String> texts(JsonReader json, Set<String> names) throws IOException {
        Map<String, String> texts = new HashMap<>();
        if (json.peek() != JsonToken.BEGIN_OBJECT) {
            json.skipValue();
            return texts;
        }
        json.beginObject();
        while (json.hasNext()) {
            String name = json.nextName();
            JsonToken next = json.peek();
            if (names.contains(name) && next == JsonToken.STRING) {
                texts.put(name, json.nextString());
            } else if (names.contains(name) && next == JsonToken.BOOLEAN && json.nextBoolean()) {
                texts.put(name, "true");
            } else if (!names.contains(name) || next != JsonToken.BOOLEAN) {
                json.skipValue();
            }
        }
        json.endObject();
        return texts;
    }
}

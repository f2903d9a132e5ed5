package dev.siphon.controller.kubernetes;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import dev.siphon.csi.DriverException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// What identifies an object, and what people wrote at it; read as it comes, since labels, managed fields and the
/// rest of an object that a user made may be 1.5 MiB, and many times that once it is parsed.
///
/// @param name "" if it has none
/// @param uid "" if it has none
record ObjectMetadata(String name, String uid, Map<String, String> annotations) {
    /// What the annotations may take here, each with [#ENTRY_CHARS] more; the API server takes 256 KiB of them.
    private static final int MOST_CHARS = 128 << 10;

    private static final int ENTRY_CHARS = 64;

    ObjectMetadata {
        annotations = Map.copyOf(annotations);
    }

    /// Reads an object.
    ///
    /// @param what it is, for messages
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if its annotations are more than what is held here
    static ObjectMetadata read(String what, InputStream json) throws IOException {
        return object(what, reader(json), _ -> true);
    }

    /// Reads a page of a list: hands over each object with those of its annotations that have one of `keys`.
    ///
    /// @return where the next page begins; "" after the last one
    static String readPage(String what, InputStream json, Set<String> keys, Consumer<ObjectMetadata> each)
            throws IOException {
        JsonReader reader = reader(json);
        String next = "";
        reader.beginObject();
        while (reader.hasNext()) {
            switch (reader.nextName()) {
                case "metadata" -> next = nextPage(reader);
                case "items" -> {
                    reader.beginArray();
                    while (reader.hasNext()) {
                        each.accept(object(what, reader, keys::contains));
                    }
                    reader.endArray();
                }
                default -> reader.skipValue();
            }
        }
        reader.endObject();
        return next;
    }

    private static String nextPage(JsonReader reader) throws IOException {
        String next = "";
        reader.beginObject();
        while (reader.hasNext()) {
            if (reader.nextName().equals("continue")) {
                next = reader.nextString();
            } else {
                reader.skipValue();
            }
        }
        reader.endObject();
        return next;
    }

    private static JsonReader reader(InputStream json) {
        return new JsonReader(new InputStreamReader(json, StandardCharsets.UTF_8));
    }

    private static ObjectMetadata object(String what, JsonReader reader, Predicate<String> keys) throws IOException {
        ObjectMetadata found = new ObjectMetadata("", "", Map.of());
        reader.beginObject();
        while (reader.hasNext()) {
            if (reader.nextName().equals("metadata")) {
                found = metadata(what, reader, keys);
            } else {
                reader.skipValue();
            }
        }
        reader.endObject();
        return found;
    }

    private static ObjectMetadata metadata(String what, JsonReader reader, Predicate<String> keys) throws IOException {
        String name = "";
        String uid = "";
        Map<String, String> annotations = Map.of();
        reader.beginObject();
        while (reader.hasNext()) {
            switch (reader.nextName()) {
                case "name" -> name = reader.nextString();
                case "uid" -> uid = reader.nextString();
                case "annotations" -> annotations = annotations(what, reader, keys);
                default -> reader.skipValue();
            }
        }
        reader.endObject();
        return new ObjectMetadata(name, uid, annotations);
    }

    private static Map<String, String> annotations(String what, JsonReader reader, Predicate<String> keys)
            throws IOException {
        Map<String, String> annotations = new HashMap<>();
        if (reader.peek() == JsonToken.NULL) {
            reader.nextNull();
            return annotations;
        }
        int chars = 0;
        reader.beginObject();
        while (reader.hasNext()) {
            String key = reader.nextName();
            String value = reader.nextString();
            if (!keys.test(key)) {
                continue;
            }
            chars += ENTRY_CHARS + key.length() + value.length();
            if (chars > MOST_CHARS) {
                throw new DriverException.InUse("the annotations of " + what + " are more than " + (MOST_CHARS >> 10)
                        + " KiB, each counted with " + ENTRY_CHARS + " bytes more; remove some");
            }
            annotations.put(key, value);
        }
        reader.endObject();
        return annotations;
    }
}

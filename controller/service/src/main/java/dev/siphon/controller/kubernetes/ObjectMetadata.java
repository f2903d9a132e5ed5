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
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// The identity and annotations of an object, read as a stream. Labels, managed fields and the rest of an object
/// that a user wrote may have 1.5 MiB, and many times that once parsed.
///
/// @param name "" if it has none
/// @param uid "" if it has none
/// @param annotations none if they exceed the limit
/// @param whole false if they exceed the limit
record ObjectMetadata(String name, String uid, Map<String, String> annotations, boolean whole) {
    /// Most characters of annotations, counting [#ENTRY_CHARS] more for each; the API server accepts 256 KiB.
    private static final int MOST_CHARS = 128 << 10;

    private static final int ENTRY_CHARS = 64;

    ObjectMetadata {
        annotations = Map.copyOf(annotations);
    }

    /// Reads an object.
    ///
    /// @param what its name, for messages
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if its annotations exceed the limit
    static ObjectMetadata read(String what, InputStream json) throws IOException {
        return object(reader(json), _ -> true, () -> {
            throw new DriverException.InUse("the annotations of " + what + " are more than " + (MOST_CHARS >> 10)
                    + " KiB (each counts " + ENTRY_CHARS + " bytes more): remove some");
        });
    }

    /// Reads the uid of an object of any size; "" if it has none.
    static String readUid(InputStream json) throws IOException {
        return object(reader(json), _ -> false, () -> {}).uid();
    }

    /// Reads an object of any size, with those of its annotations that are in `keys`.
    static ObjectMetadata readPart(InputStream json, Set<String> keys) throws IOException {
        return object(reader(json), keys::contains, () -> {});
    }

    /// Reads a page of a list; passes on each object with those of its annotations that are in `keys`.
    ///
    /// @return where the next page starts; "" after the last
    static String readPage(InputStream json, Set<String> keys, Consumer<ObjectMetadata> each) throws IOException {
        JsonReader reader = reader(json);
        String next = "";
        reader.beginObject();
        while (reader.hasNext()) {
            switch (reader.nextName()) {
                case "metadata" -> next = nextPage(reader);
                case "items" -> {
                    reader.beginArray();
                    while (reader.hasNext()) {
                        each.accept(object(reader, keys::contains, () -> {}));
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

    private static ObjectMetadata object(JsonReader reader, Predicate<String> keys, Runnable tooLong)
            throws IOException {
        ObjectMetadata found = new ObjectMetadata("", "", Map.of(), true);
        reader.beginObject();
        while (reader.hasNext()) {
            if (reader.nextName().equals("metadata")) {
                found = metadata(reader, keys, tooLong);
            } else {
                reader.skipValue();
            }
        }
        reader.endObject();
        return found;
    }

    private static ObjectMetadata metadata(JsonReader reader, Predicate<String> keys, Runnable tooLong)
            throws IOException {
        String name = "";
        String uid = "";
        Optional<Map<String, String>> annotations = Optional.of(Map.of());
        reader.beginObject();
        while (reader.hasNext()) {
            switch (reader.nextName()) {
                case "name" -> name = reader.nextString();
                case "uid" -> uid = reader.nextString();
                case "annotations" -> annotations = annotations(reader, keys, tooLong);
                default -> reader.skipValue();
            }
        }
        reader.endObject();
        return new ObjectMetadata(name, uid, annotations.orElse(Map.of()), annotations.isPresent());
    }

    /// Returns the annotations; empty if they exceed the limit.
    ///
    /// @param tooLong called then; if it throws nothing, the rest is skipped
    private static Optional<Map<String, String>> annotations(
            JsonReader reader, Predicate<String> keys, Runnable tooLong) throws IOException {
        Map<String, String> annotations = new HashMap<>();
        if (reader.peek() == JsonToken.NULL) {
            reader.nextNull();
            return Optional.of(annotations);
        }
        int chars = 0;
        reader.beginObject();
        while (reader.hasNext()) {
            String key = reader.nextName();
            if (chars > MOST_CHARS || !keys.test(key)) {
                reader.skipValue();
                continue;
            }
            String value = reader.nextString();
            chars += ENTRY_CHARS + key.length() + value.length();
            annotations.put(key, value);
            if (chars > MOST_CHARS) {
                tooLong.run();
            }
        }
        reader.endObject();
        return chars > MOST_CHARS ? Optional.empty() : Optional.of(annotations);
    }
}

package dev.siphon.controller.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/// Selected parts of an object, read as a stream. Users create objects of 1.5 MiB, which take many times that once
/// parsed, and a server sends a hundred of them in a page.
///
/// @param kept the selected parts, without those that exceed their limit
/// @param size of all kept parts, in values and pieces of text
/// @param whole whether no part is missing
record ObjectParts(JsonObject kept, int size, boolean whole) {
    /// One event of a watch.
    ///
    /// @param object for [Type#BOOKMARK] only its version
    record Event(Type type, ObjectParts object) {
        /// Kubernetes API Concepts, "Watch events".
        enum Type {
            ADDED,
            MODIFIED,
            DELETED,
            BOOKMARK,
            ERROR
        }

        /// Whether the object exists.
        boolean isThere() {
            return type == Type.ADDED || type == Type.MODIFIED;
        }
    }

    /// One page of a list.
    ///
    /// @param next where the next page starts; "" after the last
    /// @param version of the collection, from which a watch may continue
    record Page(String next, String version) {}

    /// Selects parts.
    ///
    /// @param names path of each part: `spec.nodeName`, and `spec.containers.name` of each container
    /// @param most limit of one part, in values and pieces of text. All parts together may have ten times that;
    ///     the identity, whose length Kubernetes limits, the gates, and what Kueue says of a Workload do not count
    record Keep(Set<String> names, int most) {
        /// Enough for what people write.
        static final int USUAL = 500;

        private static final int PARTS = 10;

        Keep {
            names = Set.copyOf(names);
        }

        static Keep of(String... names) {
            return new Keep(Set.of(names), USUAL);
        }

        private static final Set<String> NEEDED = Set.of(
                "metadata.namespace",
                "metadata.name",
                "metadata.uid",
                "metadata.resourceVersion",
                "metadata.generation",
                "metadata.creationTimestamp",
                "metadata.deletionTimestamp",
                "spec.schedulingGates",
                "status.conditions",
                "status.admissionChecks");

        private static boolean isNeeded(String part) {
            return NEEDED.contains(part);
        }
    }

    /// Reads the parts of one object; empty if it does not exist.
    ///
    /// @param doing as for [KubernetesApi#find]
    /// @param path of the object
    static Optional<ObjectParts> find(KubernetesApi api, String doing, String path, Keep keep) {
        return api.read(doing, path, body -> of(body, keep));
    }

    static ObjectParts of(InputStream body, Keep keep) throws IOException {
        return new PruningParser(reader(body), keep).object();
    }

    /// Passes on the parts of each object, page by page.
    ///
    /// @param doing as for [KubernetesApi#find]
    /// @param path of the collection, with the page limit and a selector
    /// @return false if the cluster lacks this kind
    static boolean list(KubernetesApi api, String doing, String path, Keep keep, Consumer<ObjectParts> each) {
        return list(api, doing, path, keep, each, _ -> {});
    }

    /// As above, and reports the version.
    ///
    /// @param version receives each page's version; all are the same
    static boolean list(
            KubernetesApi api,
            String doing,
            String path,
            Keep keep,
            Consumer<ObjectParts> each,
            Consumer<String> version) {
        return api.pages(doing, path, body -> page(body, keep, each), page -> {
            version.accept(page.version());
            return page.next();
        });
    }

    /// Passes on the events of a watch until the server ends it.
    static void events(InputStream body, Keep keep, Consumer<Event> each) throws IOException {
        JsonReader reader = reader(body);
        // a watch is a sequence of JSON values
        reader.setStrictness(Strictness.LENIENT);
        while (reader.peek() != JsonToken.END_DOCUMENT) {
            event(reader, keep).ifPresent(each);
        }
    }

    /// Returns the next event; empty if its type is unknown.
    private static Optional<Event> event(JsonReader reader, Keep keep) throws IOException {
        String type = "";
        ObjectParts object = new ObjectParts(new JsonObject(), 0, true);
        reader.beginObject();
        while (reader.hasNext()) {
            switch (reader.nextName()) {
                case "type" -> type = reader.nextString();
                case "object" -> object = new PruningParser(reader, keep).object();
                default -> reader.skipValue();
            }
        }
        reader.endObject();
        String name = type;
        ObjectParts about = object;
        return Arrays.stream(Event.Type.values())
                .filter(known -> known.name().equals(name))
                .map(known -> new Event(known, about))
                .findFirst();
    }

    /// Reads one page and passes on each object as it arrives.
    static Page page(InputStream body, Keep keep, Consumer<ObjectParts> each) throws IOException {
        JsonReader reader = reader(body);
        JsonObject metadata = new JsonObject();
        reader.beginObject();
        while (reader.hasNext()) {
            switch (reader.nextName()) {
                case "metadata" ->
                    metadata = new PruningParser(reader, Keep.of("continue", "resourceVersion"))
                            .object()
                            .kept();
                case "items" -> {
                    reader.beginArray();
                    while (reader.hasNext()) {
                        each.accept(new PruningParser(reader, keep).object());
                    }
                    reader.endArray();
                }
                default -> reader.skipValue();
            }
        }
        reader.endObject();
        return new Page(
                JsonParts.text(metadata, "continue").orElse(""),
                JsonParts.text(metadata, "resourceVersion").orElse(""));
    }

    private static JsonReader reader(InputStream body) {
        JsonReader reader = new JsonReader(new InputStreamReader(body, StandardCharsets.UTF_8));
        // skipped content may have any depth, which takes no stack
        reader.setNestingLimit(Integer.MAX_VALUE);
        return reader;
    }

    /// Parses one object.
    private static final class PruningParser {
        /// Deepest nesting of a part, and of arrays on the path to it.
        private static final int DEEPEST = 32;

        private static final int PIECE_CHARS = 32;

        private final JsonReader reader;
        private final Keep keep;
        private int size;
        private boolean whole = true;

        PruningParser(JsonReader reader, Keep keep) {
            this.reader = reader;
            this.keep = keep;
        }

        ObjectParts object() throws IOException {
            JsonElement kept = way("", 0);
            return new ObjectParts(kept.isJsonObject() ? kept.getAsJsonObject() : new JsonObject(), size, whole);
        }

        /// Reads the parts below a path; in an array, those of each element.
        ///
        /// @param at the path so far, with a dot after each name
        private JsonElement way(String at, int depth) throws IOException {
            if (depth > DEEPEST) {
                whole = false;
                reader.skipValue();
                return new JsonObject();
            }
            if (reader.peek() == JsonToken.BEGIN_ARRAY) {
                JsonArray elements = new JsonArray();
                reader.beginArray();
                while (reader.hasNext()) {
                    if (isRoom(1)) {
                        elements.add(way(at, depth + 1));
                    } else {
                        reader.skipValue();
                    }
                }
                reader.endArray();
                return elements;
            }
            JsonObject kept = new JsonObject();
            if (reader.peek() != JsonToken.BEGIN_OBJECT) {
                reader.skipValue();
                return kept;
            }
            reader.beginObject();
            while (reader.hasNext()) {
                String name = reader.nextName();
                String below = at + name + ".";
                if (keep.names().contains(at + name)) {
                    part(at + name).ifPresent(part -> kept.add(name, part));
                } else if (keep.names().stream().anyMatch(part -> part.startsWith(below))) {
                    kept.add(name, way(below, depth + 1));
                } else {
                    reader.skipValue();
                }
            }
            reader.endObject();
            return kept;
        }

        private boolean isRoom(int more) {
            if (size + more > keep.most() * Keep.PARTS) {
                whole = false;
                return false;
            }
            size += more;
            return true;
        }

        /// Reads a part; empty if it exceeds its limit.
        private Optional<JsonElement> part(String name) throws IOException {
            Part part = new Part(keep.most());
            JsonElement value = part.value(0);
            if (part.left < 0) {
                whole = false;
                return Optional.empty();
            }
            int taken = keep.most() - part.left;
            if (Keep.isNeeded(name)) {
                size += taken;
            } else if (!isRoom(taken)) {
                return Optional.empty();
            }
            return Optional.of(value);
        }

        private final class Part {
            private int left;

            Part(int most) {
                this.left = most;
            }

            private JsonElement value(int depth) throws IOException {
                left--;
                if (left < 0 || depth > DEEPEST) {
                    left = -1;
                    reader.skipValue();
                    return JsonNull.INSTANCE;
                }
                return switch (reader.peek()) {
                    case BEGIN_OBJECT -> members(depth);
                    case BEGIN_ARRAY -> elements(depth);
                    case BOOLEAN -> new JsonPrimitive(reader.nextBoolean());
                    case NUMBER -> number(text());
                    case NULL -> {
                        reader.nextNull();
                        yield JsonNull.INSTANCE;
                    }
                    default -> new JsonPrimitive(text());
                };
            }

            /// A number with an exponent beyond BigDecimal's is kept as text, which no reader takes for a number.
            private static JsonPrimitive number(String text) {
                try {
                    return new JsonPrimitive(new BigDecimal(text));
                } catch (NumberFormatException beyond) {
                    return new JsonPrimitive(text);
                }
            }

            private String text() throws IOException {
                String text = reader.nextString();
                left -= text.length() / PIECE_CHARS;
                return text;
            }

            private JsonObject members(int depth) throws IOException {
                JsonObject object = new JsonObject();
                reader.beginObject();
                while (reader.hasNext()) {
                    String name = reader.nextName();
                    left -= name.length() / PIECE_CHARS;
                    JsonElement value = value(depth + 1);
                    if (left >= 0) {
                        object.add(name, value);
                    }
                }
                reader.endObject();
                return object;
            }

            private JsonArray elements(int depth) throws IOException {
                JsonArray array = new JsonArray();
                reader.beginArray();
                while (reader.hasNext()) {
                    JsonElement element = value(depth + 1);
                    if (left >= 0) {
                        array.add(element);
                    }
                }
                reader.endArray();
                return array;
            }
        }
    }
}

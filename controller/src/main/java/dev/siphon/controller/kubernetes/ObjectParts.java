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

/// What is kept of an object that an API server has, read as it comes: users make objects of 1.5 MiB, which are
/// many times that once they are parsed, and a server sends a hundred of them in a page.
///
/// @param kept its parts, without those that are longer than they may be
/// @param size of all that is kept, in values and pieces of text
/// @param whole whether all parts are there
record ObjectParts(JsonObject kept, int size, boolean whole) {
    /// One event of a watch.
    ///
    /// @param object of a [Type#BOOKMARK] only its version
    record Event(Type type, ObjectParts object) {
        /// Kubernetes API Concepts, "Watch events".
        enum Type {
            ADDED,
            MODIFIED,
            DELETED,
            BOOKMARK,
            ERROR
        }

        /// Whether the object is there.
        boolean isThere() {
            return type == Type.ADDED || type == Type.MODIFIED;
        }
    }

    /// One page of a list.
    ///
    /// @param next where the next page begins; "" after the last one
    /// @param version of the collection, from which a watch may go on
    record Page(String next, String version) {}

    /// Which parts are kept.
    ///
    /// @param names on the way to each: `spec.nodeName`, and `spec.containers.name` of each container
    /// @param most what one part may be, in values and pieces of text; and ten times that all together, but for
    ///     those below `metadata` and the gates, without which nobody can say whose the rest is
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

        private static boolean isNeeded(String part) {
            return part.startsWith("metadata.") || part.equals("spec.schedulingGates");
        }
    }

    /// What is kept of one object; empty if there is none.
    ///
    /// @param doing as of [KubernetesApi#find]
    /// @param path the object's
    static Optional<ObjectParts> find(KubernetesApi api, String doing, String path, Keep keep) {
        return api.read(doing, path, body -> of(body, keep));
    }

    static ObjectParts of(InputStream body, Keep keep) throws IOException {
        return new PruningParser(reader(body), keep).object();
    }

    /// Hands over what is kept of each object, page after page.
    ///
    /// @param doing as of [KubernetesApi#find]
    /// @param path of the collection, with the limit of a page, and which of them
    /// @return false if the cluster has no such kind
    static boolean list(KubernetesApi api, String doing, String path, Keep keep, Consumer<ObjectParts> each) {
        return list(api, doing, path, keep, each, _ -> {});
    }

    /// The same.
    ///
    /// @param version gets each page's, which are the same
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

    /// The events of a watch, one after the other, until the server ends it.
    static void events(InputStream body, Keep keep, Consumer<Event> each) throws IOException {
        JsonReader reader = reader(body);
        // several values
        reader.setStrictness(Strictness.LENIENT);
        while (reader.peek() != JsonToken.END_DOCUMENT) {
            event(reader, keep).ifPresent(each);
        }
    }

    /// Empty if it is of a type that this Kubernetes has not.
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

    /// One page, of which each object is handed over as it comes.
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
        // what is skipped may be as deep as anybody likes: that takes no stack
        reader.setNestingLimit(Integer.MAX_VALUE);
        return reader;
    }

    /// One object.
    private static final class PruningParser {
        /// How deep a part may be, and how deep in arrays what is on the way to it.
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

        /// What is on the way to a part: of an array that of each of its elements.
        ///
        /// @param at the names on the way here, with a dot behind each
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

        /// The part, or nothing of it if it is too long.
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

            /// One whose exponent is beyond a BigDecimal's is kept as a text, which no reader takes for a number.
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

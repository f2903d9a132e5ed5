package dev.siphon.controller.kubernetes;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/// Reads parts of Kubernetes objects by the path of names to them; missing parts are empty.
final class JsonParts {
    private JsonParts() {}

    /// Returns the element at a path, of any type.
    static Optional<JsonElement> at(JsonObject object, String... names) {
        Optional<JsonElement> found = Optional.of(object);
        for (String name : names) {
            found = found.filter(JsonElement::isJsonObject)
                    .map(part -> part.getAsJsonObject().get(name));
        }
        return found.filter(part -> !part.isJsonNull());
    }

    static Optional<String> text(JsonObject object, String... names) {
        return at(object, names).filter(JsonElement::isJsonPrimitive).map(JsonElement::getAsString);
    }

    /// Returns a whole number, clamped to the range of int; 0 if there is none.
    static int number(JsonObject object, String name) {
        try {
            return at(object, name)
                    .filter(JsonElement::isJsonPrimitive)
                    .map(number -> (int) number.getAsDouble())
                    .orElse(0);
        } catch (NumberFormatException none) {
            return 0;
        }
    }

    static Optional<JsonObject> object(JsonObject object, String... names) {
        return at(object, names).filter(JsonElement::isJsonObject).map(JsonElement::getAsJsonObject);
    }

    /// Returns the objects of a list.
    static Stream<JsonObject> each(JsonObject object, String... names) {
        return elements(object, names).filter(JsonElement::isJsonObject).map(JsonElement::getAsJsonObject);
    }

    /// Returns the strings of a list.
    static Stream<String> words(JsonObject object, String... names) {
        return elements(object, names).filter(JsonElement::isJsonPrimitive).map(JsonElement::getAsString);
    }

    private static Stream<JsonElement> elements(JsonObject object, String... names) {
        return at(object, names).filter(JsonElement::isJsonArray).map(JsonElement::getAsJsonArray).stream()
                .flatMap(list -> StreamSupport.stream(list.spliterator(), false));
    }

    /// Returns a map of strings, such as labels.
    static Map<String, String> map(JsonObject object, String... names) {
        Map<String, String> found = new TreeMap<>();
        object(object, names)
                .ifPresent(map -> map.entrySet().stream()
                        .filter(each -> each.getValue().isJsonPrimitive())
                        .forEach(
                                each -> found.put(each.getKey(), each.getValue().getAsString())));
        return found;
    }
}

package dev.siphon.controller.kubernetes;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/// Parts of objects of Kubernetes, by the names on the way to them; what is not there is empty.
final class JsonParts {
    private JsonParts() {}

    /// What is there, whatever it is.
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

    /// A whole number, of those that are too large the largest; 0 where there is none.
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

    /// The objects of a list.
    static Stream<JsonObject> each(JsonObject object, String... names) {
        return elements(object, names).filter(JsonElement::isJsonObject).map(JsonElement::getAsJsonObject);
    }

    /// The words of a list.
    static Stream<String> words(JsonObject object, String... names) {
        return elements(object, names).filter(JsonElement::isJsonPrimitive).map(JsonElement::getAsString);
    }

    private static Stream<JsonElement> elements(JsonObject object, String... names) {
        return at(object, names).filter(JsonElement::isJsonArray).map(JsonElement::getAsJsonArray).stream()
                .flatMap(list -> StreamSupport.stream(list.spliterator(), false));
    }

    /// Words by their names, as labels are.
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

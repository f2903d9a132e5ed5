package dev.siphon.node.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/// Fields of an object, of which Kubernetes leaves out the empty ones. One of another form than is asked for is as one
/// that is not there.
final class Json {
    private Json() {}

    static Optional<JsonObject> object(JsonObject of, String field) {
        return Optional.ofNullable(of.get(field))
                .filter(JsonElement::isJsonObject)
                .map(JsonElement::getAsJsonObject);
    }

    /// What is in a list, but for what is no object.
    static Stream<JsonObject> objects(JsonObject of, String field) {
        return elements(of, field).filter(JsonElement::isJsonObject).map(JsonElement::getAsJsonObject);
    }

    static Stream<JsonElement> elements(JsonObject of, String field) {
        return Optional.ofNullable(of.get(field))
                .filter(JsonElement::isJsonArray)
                .map(JsonElement::getAsJsonArray)
                .map(JsonArray::spliterator)
                .stream()
                .flatMap(each -> StreamSupport.stream(each, false));
    }

    static Optional<String> text(JsonObject of, String field) {
        return primitive(of, field)
                .filter(value -> value.getAsJsonPrimitive().isString())
                .map(JsonElement::getAsString);
    }

    static Optional<Long> number(JsonObject of, String field) {
        return primitive(of, field).flatMap(Json::number);
    }

    static Optional<Long> number(JsonElement value) {
        try {
            return value.isJsonPrimitive() && value.getAsJsonPrimitive().isNumber()
                    ? Optional.of(value.getAsLong())
                    : Optional.empty();
        } catch (NumberFormatException beyond) {
            return Optional.empty(); // its exponent is beyond what Gson reads
        }
    }

    static boolean isTrue(JsonObject of, String field) {
        return primitive(of, field)
                .filter(value -> value.getAsJsonPrimitive().isBoolean())
                .map(JsonElement::getAsBoolean)
                .orElse(false);
    }

    private static Optional<JsonElement> primitive(JsonObject of, String field) {
        return Optional.ofNullable(of.get(field)).filter(JsonElement::isJsonPrimitive);
    }
}

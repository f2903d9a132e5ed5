package dev.siphon.controller.ldap;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.siphon.csi.Nearest;
import dev.siphon.csi.Quoted;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/// Reads the fields of one JSON object and notes what is wrong with them in a list that all objects of a file share.
final class JsonFields {
    private final String where;
    private final JsonObject object;
    private final List<String> errors;

    /// @param where the object's place in the file with a dot behind, "" at the top
    /// @param known the fields that it may have
    JsonFields(String where, JsonObject object, Set<String> known, List<String> errors) {
        this.where = where;
        this.object = object;
        this.errors = errors;
        for (String key : new TreeSet<>(object.keySet())) {
            if (!known.contains(key)) {
                errors.add(where + Quoted.of(key) + " is not known; the nearest known one is \""
                        + Nearest.to(key, known) + "\"; known are " + new TreeSet<>(known));
            }
        }
    }

    /// The text of a field; empty if it is not there.
    Optional<String> text(String key) {
        JsonElement value = object.get(key);
        if (value == null) {
            return Optional.empty();
        }
        Optional<String> text = string(value).filter(it -> !it.isBlank());
        if (text.isEmpty()) {
            wrong(key, "must be a string that is not empty");
        }
        return text;
    }

    /// The strings of a list; none if it is not there.
    List<String> texts(String key) {
        JsonElement value = object.get(key);
        List<String> texts = new ArrayList<>();
        if (value instanceof JsonArray array) {
            array.forEach(each -> string(each).ifPresent(texts::add));
        }
        if (value != null && !(value instanceof JsonArray array && array.size() == texts.size())) {
            wrong(key, "must be a list of strings");
        }
        return texts;
    }

    /// A whole number in a range.
    long number(String key, long whenNone, long least, long most) {
        JsonElement value = object.get(key);
        if (value == null) {
            return whenNone;
        }
        if (value instanceof JsonPrimitive primitive && primitive.isNumber()) {
            BigDecimal number = primitive.getAsBigDecimal();
            if (number.compareTo(BigDecimal.valueOf(least)) >= 0
                    && number.compareTo(BigDecimal.valueOf(most)) <= 0
                    && number.stripTrailingZeros().scale() <= 0) {
                return number.longValueExact();
            }
        }
        wrong(key, "must be a whole number from " + least + " to " + most);
        return whenNone;
    }

    /// An object in this one; an empty one if it is not there.
    JsonFields object(String key, Set<String> known) {
        JsonElement value = object.get(key);
        if (value != null && !(value instanceof JsonObject)) {
            wrong(key, "must be an object");
        }
        JsonObject inner = value instanceof JsonObject found ? found : new JsonObject();
        return new JsonFields(where + key + ".", inner, known, errors);
    }

    /// The value of a field made of its text, or of `whenNone` if it is not there; empty if both are, or what is
    /// there is wrong, which is noted.
    <T> Optional<T> read(String key, String whenNone, Function<String, T> parse) {
        String text = text(key).orElse(whenNone);
        if (text.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(parse.apply(text));
        } catch (IllegalArgumentException invalid) {
            wrong(key, Quoted.of(text) + " " + invalid.getMessage());
            return Optional.empty();
        }
    }

    /// As [#read(String, String, Function)] for a field that must have a value: `whenWrong` stands for it when it has
    /// none, which is noted.
    <T> T need(String key, String whenNone, T whenWrong, Function<String, T> parse) {
        if (whenNone.isEmpty() && object.get(key) == null) {
            wrong(key, "is needed");
        }
        return read(key, whenNone, parse).orElse(whenWrong);
    }

    /// Notes that a field is wrong.
    void wrong(String key, String what) {
        errors.add(where + key + " " + what);
    }

    private static Optional<String> string(JsonElement element) {
        return element instanceof JsonPrimitive primitive && primitive.isString()
                ? Optional.of(primitive.getAsString())
                : Optional.empty();
    }
}

package dev.siphon.controller.config;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.SpellingSuggestion;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/// Reads the fields of one JSON object, and records their errors in a list that all objects of a file share.
public final class JsonObjectReader {
    private final String where;
    private final JsonObject object;
    private final List<String> errors;

    /// @param where the object's place in the file with a trailing dot, "" at the top
    /// @param known the fields that the object may have
    JsonObjectReader(String where, JsonObject object, Set<String> known, List<String> errors) {
        this.where = where;
        this.object = object;
        this.errors = errors;
        for (String key : new TreeSet<>(object.keySet())) {
            if (!known.contains(key)) {
                errors.add(where + QuotedText.of(key) + " is not known; the nearest known one is \""
                        + SpellingSuggestion.to(key, known) + "\"; known are " + new TreeSet<>(known));
            }
        }
    }

    /// Returns the text of a field; empty if absent or wrong.
    public Optional<String> text(String key) {
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

    /// Returns the strings of a list; none if absent. Any other element is recorded as wrong and becomes "".
    public List<String> texts(String key) {
        List<String> texts = new ArrayList<>();
        JsonArray array = array(key, "must be a list of strings");
        for (int i = 0; i < array.size(); i++) {
            Optional<String> text = string(array.get(i));
            if (text.isEmpty()) {
                wrong(key + "[" + i + "]", "must be a string");
            }
            texts.add(text.orElse(""));
        }
        return texts;
    }

    /// Returns the objects of a list; none if absent. Other elements are recorded as wrong and skipped.
    public List<JsonObjectReader> objects(String key, Set<String> known) {
        List<JsonObjectReader> objects = new ArrayList<>();
        JsonArray array = array(key, "must be a list of objects");
        for (int i = 0; i < array.size(); i++) {
            if (array.get(i) instanceof JsonObject inner) {
                objects.add(new JsonObjectReader(where + key + "[" + i + "].", inner, known, errors));
            } else {
                wrong(key + "[" + i + "]", "must be an object");
            }
        }
        return objects;
    }

    private JsonArray array(String key, String otherwise) {
        JsonElement value = object.get(key);
        if (value != null && !(value instanceof JsonArray)) {
            wrong(key, otherwise);
        }
        return value instanceof JsonArray found ? found : new JsonArray();
    }

    /// Returns the value of a boolean field; `false` if absent or wrong.
    public boolean flag(String key) {
        JsonElement value = object.get(key);
        if (value instanceof JsonPrimitive primitive && primitive.isBoolean()) {
            return primitive.getAsBoolean();
        }
        if (value != null) {
            wrong(key, "must be true or false");
        }
        return false;
    }

    /// Returns a whole number from `least` to `most`; `whenNone` if absent or wrong.
    public long number(String key, long whenNone, long least, long most) {
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

    /// Returns an object in this one; an empty one if absent or wrong.
    public JsonObjectReader object(String key, Set<String> known) {
        JsonElement value = object.get(key);
        if (value != null && !(value instanceof JsonObject)) {
            wrong(key, "must be an object");
        }
        JsonObject inner = value instanceof JsonObject found ? found : new JsonObject();
        return new JsonObjectReader(where + key + ".", inner, known, errors);
    }

    /// Parses a field's text, or `whenNone` if the field is absent. Returns empty if there is no text, or if it
    /// is wrong, which is recorded.
    public <T> Optional<T> read(String key, String whenNone, Function<String, T> parse) {
        String text = text(key).orElse(whenNone);
        if (text.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(parse.apply(text));
        } catch (IllegalArgumentException invalid) {
            wrong(key, QuotedText.of(text) + " " + invalid.getMessage());
            return Optional.empty();
        }
    }

    /// Same as [#read(String, String, Function)], for a required field. Without a valid value, records an error
    /// and returns `whenWrong`.
    public <T> T need(String key, String whenNone, T whenWrong, Function<String, T> parse) {
        if (whenNone.isEmpty() && object.get(key) == null) {
            wrong(key, "is needed");
        }
        return read(key, whenNone, parse).orElse(whenWrong);
    }

    /// Records that a field is wrong.
    public void wrong(String key, String what) {
        errors.add(where + key + " " + what);
    }

    /// Returns the absolute path of a field's text, for [#read] and [#need].
    public static Path absolute(String text) {
        if (!text.startsWith("/")) {
            throw new IllegalArgumentException("must be an absolute path");
        }
        return Path.of(text);
    }

    private static Optional<String> string(JsonElement element) {
        return element instanceof JsonPrimitive primitive && primitive.isString()
                ? Optional.of(primitive.getAsString())
                : Optional.empty();
    }
}

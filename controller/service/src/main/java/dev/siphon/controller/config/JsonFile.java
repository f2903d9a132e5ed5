package dev.siphon.controller.config;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/// A file with one JSON object.
///
/// @param what the kind of file in error messages, for example `clusters file`
/// @param known the fields that the object may have
public record JsonFile(String what, Set<String> known) {
    /// Reports all errors of a file at once.
    public static final class Invalid extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        private Invalid(String message) {
            super(message);
        }
    }

    /// Reads the file.
    ///
    /// @param parse creates the result from the fields; its result is discarded if a field was recorded as wrong
    /// @throws Invalid if the file cannot be read or has any error
    public <T> T read(Path file, Function<JsonObjectReader, T> parse) {
        try {
            return parse(file, Files.readString(file), parse);
        } catch (IOException e) {
            throw invalid(file, List.of("cannot be read: " + e));
        }
    }

    /// Parses the text of a file; see [#read].
    ///
    /// @throws Invalid if the text has any error
    public <T> T parse(Path file, String text, Function<JsonObjectReader, T> parse) {
        List<String> errors = new ArrayList<>();
        JsonObject root = root(text, errors);
        if (!errors.isEmpty()) {
            throw invalid(file, errors);
        }
        T value = parse.apply(new JsonObjectReader("", root, known, errors));
        if (!errors.isEmpty()) {
            throw invalid(file, errors);
        }
        return value;
    }

    private static JsonObject root(String text, List<String> errors) {
        try {
            if (JsonParser.parseString(text) instanceof JsonObject root) {
                return root;
            }
            errors.add("must be an object");
        } catch (JsonParseException e) {
            errors.add("is not JSON: " + e.getMessage());
        }
        return new JsonObject();
    }

    private Invalid invalid(Path file, List<String> errors) {
        return new Invalid(what + " " + file + ": " + String.join("; ", errors));
    }
}

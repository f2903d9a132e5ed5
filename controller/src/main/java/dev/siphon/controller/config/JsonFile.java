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

/// A file that holds one JSON object.
///
/// @param what the file is for, as errors call it: `clusters file`
/// @param known the fields of the object
public record JsonFile(String what, Set<String> known) {
    /// Says what is wrong with a file, all of it at once.
    public static final class Invalid extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        private Invalid(String message) {
            super(message);
        }
    }

    /// Reads the file.
    ///
    /// @param parse makes what the file says of its fields; where they are wrong, which they note, anything
    /// @throws Invalid if it cannot be read, or anything in it is wrong
    public <T> T read(Path file, Function<JsonObjectReader, T> parse) {
        try {
            return parse(file, Files.readString(file), parse);
        } catch (IOException e) {
            throw invalid(file, List.of("cannot be read: " + e));
        }
    }

    /// Reads the text of a file, as [#read].
    ///
    /// @throws Invalid if anything in it is wrong
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

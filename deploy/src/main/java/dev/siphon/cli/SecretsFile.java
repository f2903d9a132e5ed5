package dev.siphon.cli;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Reads the `secrets` of a request from a file, so that no key is ever an argument. The file is a JSON object of
/// strings, or the same as flat YAML (`key: value` per line, quoted or not, `#` comments).
///
/// Messages never contain the file's content.
final class SecretsFile {
    private SecretsFile() {}

    /// Reads a file.
    ///
    /// @throws IllegalArgumentException if it cannot be read or has another format
    static Map<String, String> read(Path path) {
        String text;
        try {
            text = Files.readString(path);
        } catch (IOException e) {
            throw new IllegalArgumentException("cannot read the secrets file " + path + ": " + e, e);
        }
        return text.stripLeading().startsWith("{")
                ? json(path, text)
                : yaml(path, text.lines().toList());
    }

    private static Map<String, String> json(Path path, String text) {
        Map<String, String> secrets = new LinkedHashMap<>();
        JsonObject object;
        try {
            object = JsonParser.parseString(text).getAsJsonObject();
        } catch (JsonParseException _) {
            // the cause would quote the text
            throw new IllegalArgumentException("the secrets file " + path + " is not valid JSON");
        }
        for (Map.Entry<String, JsonElement> entry : object.entrySet()) {
            if (!entry.getValue().isJsonPrimitive()) {
                throw new IllegalArgumentException("the secrets file " + path + " must map strings to strings");
            }
            secrets.put(entry.getKey(), entry.getValue().getAsString());
        }
        return secrets;
    }

    private static Map<String, String> yaml(Path path, List<String> lines) {
        Map<String, String> secrets = new LinkedHashMap<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.isBlank() || line.startsWith("#") || line.equals("---")) {
                continue;
            }
            int colon = line.indexOf(": ");
            if (colon <= 0 || Character.isWhitespace(line.charAt(0))) {
                throw new IllegalArgumentException(
                        "line " + (i + 1) + " of the secrets file " + path + " is not 'key: value'");
            }
            secrets.put(
                    line.substring(0, colon), unquoted(line.substring(colon + 2).strip()));
        }
        return secrets;
    }

    private static String unquoted(String value) {
        boolean quoted = value.length() >= 2
                && (value.charAt(0) == '"' || value.charAt(0) == '\'')
                && value.charAt(value.length() - 1) == value.charAt(0);
        return quoted ? value.substring(1, value.length() - 1) : value;
    }
}

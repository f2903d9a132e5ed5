package dev.siphon.e2e.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/// Reads csi-sanity's secrets file: a line such as `NodeStageVolumeSecret:` for each call, and indented below it
/// the `key: value` pairs of that call.
public final class SecretsFile {
    private SecretsFile() {}

    /// Reads a file into a map of call to key to value.
    public static Map<String, Map<String, String>> read(Path file) {
        Map<String, Map<String, String>> secrets = new LinkedHashMap<>();
        Map<String, String> current = new LinkedHashMap<>();
        try {
            for (String line : Files.readAllLines(file)) {
                int colon = line.indexOf(':');
                if (line.isBlank() || line.stripLeading().startsWith("#")) {
                    continue;
                }
                if (colon < 0) {
                    throw new IllegalArgumentException(file + " has a line that is not `key: value`");
                }
                String key = line.substring(0, colon).strip();
                if (Character.isWhitespace(line.charAt(0))) {
                    current.put(key, line.substring(colon + 1).strip());
                } else {
                    current = new LinkedHashMap<>();
                    secrets.put(key, current);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file, e);
        }
        return secrets;
    }
}

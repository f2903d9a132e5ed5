package dev.siphon.controller.kubernetes;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/// Parses paths of an API server, such as `/api/v1/namespaces/NS/secrets/NAME`.
final class ApiPaths {
    private ApiPaths() {}

    static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    static String parent(String path) {
        return path.substring(0, path.lastIndexOf('/'));
    }

    /// Returns whether the path names a collection, such as `/api/v1/secrets`. A collection has one or three parts
    /// after `/api/v1` or `/apis/GROUP/VERSION`.
    static boolean isCollection(String path) {
        int before = path.startsWith("/api/") ? 3 : 4;
        return (path.split("/", -1).length - before) % 2 == 1;
    }

    /// Returns whether the object is in the collection of its namespace, or in the one of all namespaces.
    static boolean isIn(String object, String collection) {
        String parent = parent(object);
        return parent.equals(collection)
                || parent.replaceFirst("/namespaces/[^/]+/", "/").equals(collection);
    }

    static boolean isInNamespace(String path) {
        return path.startsWith("/api/") && path.split("/", -1).length > 5;
    }

    static String namespaceOf(String path) {
        return String.join("/", Arrays.copyOf(path.split("/", -1), 5));
    }

    /// Parses what follows the question mark.
    static Map<String, String> query(String raw) {
        Map<String, String> parts = new HashMap<>();
        for (String part : Optional.ofNullable(raw).orElse("").split("&", -1)) {
            String[] pair = part.split("=", 2);
            if (pair.length == 2) {
                parts.put(pair[0], URLDecoder.decode(pair[1], StandardCharsets.UTF_8));
            }
        }
        return parts;
    }
}

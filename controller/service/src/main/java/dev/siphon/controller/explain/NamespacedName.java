package dev.siphon.controller.explain;

import java.util.Optional;
import java.util.regex.Pattern;

/// A pod or claim by its namespace and name.
public record NamespacedName(String namespace, String name) implements Comparable<NamespacedName> {
    /// Kubernetes, "Object Names and IDs": DNS subdomain; namespaces allow less. Names come from requests and become
    /// part of a URL.
    private static final Pattern PART = Pattern.compile("[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?");

    /// Parses `NAMESPACE/NAME`; empty for any other text.
    public static Optional<NamespacedName> tryParse(String text) {
        String[] parts = text.split("/", -1);
        return parts.length == 2 && isPart(parts[0]) && isPart(parts[1])
                ? Optional.of(new NamespacedName(parts[0], parts[1]))
                : Optional.empty();
    }

    /// Returns whether a text can be the name of an object or namespace.
    public static boolean isPart(String text) {
        return PART.matcher(text).matches();
    }

    @Override
    public int compareTo(NamespacedName other) {
        return toString().compareTo(other.toString());
    }

    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}

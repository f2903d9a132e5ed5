package dev.siphon.controller.key;

import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// An identity as the mons know it, without its key.
///
/// @param userId without `client.`
/// @param caps what each service allows it
public record MintedIdentity(String userId, Map<String, String> caps) {
    private static final Pattern OBJECTS = Pattern.compile("pool=([^ ,]+) namespace=([^ ,]+)");

    private static final Pattern PATH = Pattern.compile("path=([^ ,]+)");

    public MintedIdentity {
        caps = Map.copyOf(caps);
    }

    /// Returns the directory that a dataset's identity reads; empty if its caps name none.
    public Optional<String> path() {
        Matcher found = PATH.matcher(caps.getOrDefault("mds", ""));
        return found.find() ? Optional.of(found.group(1)) : Optional.empty();
    }

    /// Returns where in RADOS it may access objects, as `POOL/NAMESPACE`; empty if its caps are not a volume's.
    public Optional<String> objects() {
        Matcher found = OBJECTS.matcher(caps.getOrDefault("osd", ""));
        return found.find() ? Optional.of(found.group(1) + "/" + found.group(2)) : Optional.empty();
    }
}

package dev.siphon.controller.identity;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;

/// Namespaces and PVCs in memory.
public final class InMemoryNamespaces implements Namespaces {
    private final Map<String, Map<String, String>> namespaces = new HashMap<>();
    private final Map<String, String> uids = new HashMap<>();
    private final Map<String, Claim> claims = new HashMap<>();
    private final List<String> asked = new ArrayList<>();

    /// Creates a namespace, or changes its annotations.
    public void annotate(String namespace, Map<String, String> annotations) {
        namespaces.put(namespace, Map.copyOf(annotations));
        var _ = uids.computeIfAbsent(namespace, _ -> UUID.randomUUID().toString());
    }

    public void remove(String namespace) {
        namespaces.remove(namespace);
        uids.remove(namespace);
    }

    /// Creates a PVC.
    ///
    /// @return its uid
    public String make(String namespace, String name, Map<String, String> annotations) {
        String uid = UUID.randomUUID().toString();
        claims.put(namespace + "/" + name, new Claim(uid, annotations));
        return uid;
    }

    public void remove(String namespace, String name) {
        claims.remove(namespace + "/" + name);
    }

    /// Returns the requests in order; each was a round trip.
    public List<String> asked() {
        return List.copyOf(asked);
    }

    @Override
    public Optional<Map<String, String>> annotations(String namespace) {
        asked.add("namespace " + namespace);
        return Optional.ofNullable(namespaces.get(namespace));
    }

    @Override
    public Optional<String> uid(String namespace) {
        asked.add("uid of " + namespace);
        return Optional.ofNullable(uids.get(namespace));
    }

    @Override
    public Map<String, String> uids() {
        asked.add("uids of all namespaces");
        return Map.copyOf(uids);
    }

    @Override
    public void all(Set<String> keys, BiConsumer<String, Map<String, String>> each) {
        asked.add("all namespaces");
        namespaces.forEach((name, annotations) -> {
            Map<String, String> kept = new HashMap<>(annotations);
            kept.keySet().retainAll(keys);
            each.accept(name, kept);
        });
    }

    @Override
    public Optional<Claim> claim(String namespace, String name) {
        asked.add("claim " + namespace + "/" + name);
        return Optional.ofNullable(claims.get(namespace + "/" + name));
    }
}

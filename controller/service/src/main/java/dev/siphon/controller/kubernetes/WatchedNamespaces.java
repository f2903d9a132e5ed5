package dev.siphon.controller.kubernetes;

import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.csi.BackgroundTasks;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Caches all namespaces by a watch: the name, the uid, and some annotations.
///
/// 10,000 namespaces with short annotations take less than 3 MB of heap (`TenantObjectsTest`). All annotations have
/// at most [#MOST] characters. Annotations beyond that, and long ones, are not kept: whoever needs them reads the
/// namespace.
final class WatchedNamespaces implements Informer.Values<WatchedNamespaces.KnownNamespace> {
    private static final int PAGE = 500;

    /// 128 KiB of one annotation, in pieces of 32 characters.
    private static final int MOST_PIECES = 4_096;

    /// Most characters of a namespace's annotations that are kept.
    static final int LONG = 4 << 10;

    /// Most characters of all annotations that are kept.
    static final int MOST = 4 << 20;

    private final Set<String> keys;
    private final Informer<KnownNamespace> informer;
    private long total;

    /// The newest object of each name: while the collection is listed again, a deleted one is still there too.
    private final Map<String, KnownNamespace> byName = new ConcurrentHashMap<>();

    /// A namespace.
    ///
    /// @param annotations empty if they are not kept
    record KnownNamespace(String name, String uid, Optional<Map<String, String>> annotations) {
        KnownNamespace {
            annotations = annotations.map(Map::copyOf);
        }

        private int chars() {
            return annotations.stream()
                    .flatMap(all -> all.values().stream())
                    .mapToInt(String::length)
                    .sum();
        }
    }

    /// @param keys the annotations to keep
    WatchedNamespaces(KubernetesApi api, Set<String> keys) {
        this.keys = Set.copyOf(keys);
        this.informer = new Informer<>(
                api,
                new Informer.Source("Namespaces", "api/v1/namespaces", "", PAGE, keep(keys)),
                this,
                System::nanoTime);
    }

    private static Keep keep(Set<String> keys) {
        Set<String> parts = new HashSet<>(Set.of("metadata.name"));
        keys.forEach(key -> parts.add("metadata.annotations." + key));
        return new Keep(parts, MOST_PIECES);
    }

    /// Watches the namespaces until the task is closed.
    BackgroundTasks.Task follow(BackgroundTasks tasks) {
        return informer.follow(tasks, () -> {});
    }

    /// Whether these annotations are known.
    boolean have(Set<String> wanted) {
        return keys.containsAll(wanted);
    }

    /// Returns all namespaces.
    List<KnownNamespace> all() {
        informer.bringUp();
        return List.copyOf(byName.values());
    }

    @Override
    public Optional<KnownNamespace> of(ObjectParts object, Optional<KnownNamespace> before) {
        before.ifPresent(old -> total -= old.chars()); // it stays in byName until it is replaced
        Map<String, String> annotations = new HashMap<>();
        // the set's own instances of the keys are kept
        keys.forEach(key -> JsonParts.text(object.kept(), "metadata", "annotations", key)
                .ifPresent(value -> annotations.put(key, value)));
        KnownNamespace whole = new KnownNamespace(
                JsonParts.text(object.kept(), "metadata", "name").orElse(""),
                JsonParts.text(object.kept(), "metadata", "uid").orElse(""),
                Optional.of(annotations));
        boolean isKept = object.whole() && whole.chars() <= LONG && total + whole.chars() <= MOST;
        KnownNamespace known = isKept ? whole : new KnownNamespace(whole.name(), whole.uid(), Optional.empty());
        total += known.chars();
        byName.put(known.name(), known);
        return Optional.of(known);
    }

    @Override
    public void gone(KnownNamespace before) {
        total -= before.chars();
        Informer.forget(byName, before.name(), before);
    }
}

package dev.siphon.controller.kubernetes;

import dev.siphon.controller.explain.NamespacedName;
import dev.siphon.controller.identity.Namespaces;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reads namespaces and claims: each by one request, and all namespaces from the watch if there is one.
final class KubernetesNamespaces implements Namespaces {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesNamespaces.class);

    /// Namespaces per page.
    private static final int PAGE = 500;

    /// Namespaces per page when a full page exceeds [#MOST_CHARS]: each may have 128 KiB of annotations.
    private static final int SMALL_PAGE = 50;

    /// Most characters of a page that are held: as many as a small page may have.
    private static final int MOST_CHARS = SMALL_PAGE * (130 << 10);

    private final KubernetesApi api;
    private final Supplier<Optional<WatchedNamespaces>> watched;

    /// @param watched the watch; empty while there is none
    KubernetesNamespaces(KubernetesApi api, Supplier<Optional<WatchedNamespaces>> watched) {
        this.api = api;
        this.watched = watched;
    }

    @Override
    public Optional<Map<String, String>> annotations(String namespace) {
        if (!NamespacedName.isPart(namespace)) {
            return Optional.empty();
        }
        return get(namespace, body -> ObjectMetadata.read("Namespace " + namespace, body))
                .map(ObjectMetadata::annotations);
    }

    @Override
    public Optional<String> uid(String namespace) {
        if (!NamespacedName.isPart(namespace)) {
            return Optional.empty();
        }
        return get(namespace, ObjectMetadata::readUid);
    }

    @Override
    public Map<String, String> uids() {
        Map<String, String> uids = new HashMap<>();
        Optional<WatchedNamespaces> cache = watched.get();
        if (cache.isPresent()) {
            cache.get().all().forEach(namespace -> uids.put(namespace.name(), namespace.uid()));
            return uids;
        }
        list(Set.of(), namespace -> uids.put(namespace.name(), namespace.uid()));
        return uids;
    }

    @Override
    public void all(Set<String> keys, BiConsumer<String, Map<String, String>> each) {
        Optional<WatchedNamespaces> cache = watched.get().filter(known -> known.have(keys));
        if (cache.isEmpty()) {
            list(keys, namespace -> passOn(namespace, each));
            return;
        }
        for (WatchedNamespaces.KnownNamespace namespace : cache.get().all()) {
            namespace
                    .annotations()
                    .ifPresentOrElse(
                            known -> each.accept(namespace.name(), selected(known, keys)),
                            () -> get(namespace.name(), body -> ObjectMetadata.readPart(body, keys))
                                    .ifPresent(read -> passOn(read, each)));
        }
    }

    private static Map<String, String> selected(Map<String, String> annotations, Set<String> keys) {
        Map<String, String> selected = new HashMap<>(annotations);
        selected.keySet().retainAll(keys);
        return selected;
    }

    private static void passOn(ObjectMetadata namespace, BiConsumer<String, Map<String, String>> each) {
        if (!namespace.whole()) {
            LOG.warn("namespace {} stands for no account: its annotations are too long", namespace.name());
        }
        each.accept(namespace.name(), namespace.annotations());
    }

    private void list(Set<String> keys, Consumer<ObjectMetadata> each) {
        String next = "";
        do {
            Page page = page(keys, next, PAGE);
            if (page.chars > MOST_CHARS) {
                page = page(keys, next, SMALL_PAGE);
            }
            page.found.forEach(each);
            next = page.next;
        } while (!next.isEmpty());
    }

    private Page page(Set<String> keys, String begin, int limit) {
        Page page = new Page();
        String from = begin.isEmpty() ? "" : "&continue=" + URLEncoder.encode(begin, StandardCharsets.UTF_8);
        page.next = api.read(
                        "list Namespaces",
                        "api/v1/namespaces?limit=" + limit + from,
                        body -> ObjectMetadata.readPage(body, keys, page::add))
                .orElse("");
        return page;
    }

    /// A page of namespaces. It drops all of them when they exceed [#MOST_CHARS].
    private static final class Page {
        private final List<ObjectMetadata> found = new ArrayList<>();
        private int chars;
        private String next = "";

        void add(ObjectMetadata namespace) {
            if (chars <= MOST_CHARS) {
                found.add(namespace);
                chars += namespace.annotations().entrySet().stream()
                        .mapToInt(
                                each -> each.getKey().length() + each.getValue().length())
                        .sum();
            }
            if (chars > MOST_CHARS) {
                found.clear();
            }
        }
    }

    @Override
    public Optional<Claim> claim(String namespace, String name) {
        if (!NamespacedName.isPart(namespace) || !NamespacedName.isPart(name)) {
            return Optional.empty();
        }
        String what = "PersistentVolumeClaim " + namespace + "/" + name;
        return api.read(
                        "get " + what,
                        "api/v1/namespaces/" + namespace + "/persistentvolumeclaims/" + name,
                        body -> ObjectMetadata.read(what, body))
                .map(found -> new Claim(found.uid(), found.annotations()));
    }

    private <T> Optional<T> get(String namespace, KubernetesApi.Reader<T> reader) {
        return api.read("get Namespace " + namespace, "api/v1/namespaces/" + namespace, reader);
    }
}

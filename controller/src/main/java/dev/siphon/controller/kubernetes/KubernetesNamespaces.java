package dev.siphon.controller.kubernetes;

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
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Namespaces and PVCs as the API server has them now; one round trip each.
final class KubernetesNamespaces implements Namespaces {
    /// What they may be called (Kubernetes, "Object Names and IDs": DNS subdomain; a namespace less), and
    /// pods. They come from the wire, and become part of a URL.
    static final Pattern NAME = Pattern.compile("[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?");

    private static final Logger LOG = LoggerFactory.getLogger(KubernetesNamespaces.class);

    /// How many to ask for at once: each may have 128 KiB of annotations, and a page is held in memory.
    private static final int PAGE = 50;

    private final KubernetesApi api;

    KubernetesNamespaces(KubernetesApi api) {
        this.api = api;
    }

    @Override
    public Optional<Map<String, String>> annotations(String namespace) {
        if (!NAME.matcher(namespace).matches()) {
            return Optional.empty();
        }
        return read("Namespace " + namespace, "api/v1/namespaces/" + namespace).map(ObjectMetadata::annotations);
    }

    @Override
    public Optional<String> uid(String namespace) {
        if (!NAME.matcher(namespace).matches()) {
            return Optional.empty();
        }
        return api.read(
                "get Namespace " + namespace, "api/v1/namespaces/" + namespace, body -> ObjectMetadata.readUid(body));
    }

    @Override
    public Map<String, String> uids() {
        Map<String, String> uids = new HashMap<>();
        list(Set.of(), namespace -> uids.put(namespace.name(), namespace.uid()));
        return uids;
    }

    @Override
    public void all(Set<String> keys, BiConsumer<String, Map<String, String>> each) {
        list(keys, namespace -> {
            if (!namespace.whole()) {
                LOG.warn("namespace {} stands for no account: its annotations are too long", namespace.name());
            }
            each.accept(namespace.name(), namespace.annotations());
        });
    }

    private void list(Set<String> keys, Consumer<ObjectMetadata> each) {
        String what = "list Namespaces";
        String next = "";
        do {
            String page = "api/v1/namespaces?limit=" + PAGE
                    + (next.isEmpty() ? "" : "&continue=" + URLEncoder.encode(next, StandardCharsets.UTF_8));
            List<ObjectMetadata> found = new ArrayList<>();
            next = api.read(what, page, body -> ObjectMetadata.readPage(body, keys, found::add))
                    .orElse("");
            found.forEach(each);
        } while (!next.isEmpty());
    }

    @Override
    public Optional<Claim> claim(String namespace, String name) {
        if (!NAME.matcher(namespace).matches() || !NAME.matcher(name).matches()) {
            return Optional.empty();
        }
        return read(
                        "PersistentVolumeClaim " + namespace + "/" + name,
                        "api/v1/namespaces/" + namespace + "/persistentvolumeclaims/" + name)
                .map(found -> new Claim(found.uid(), found.annotations()));
    }

    private Optional<ObjectMetadata> read(String what, String path) {
        return api.read("get " + what, path, body -> ObjectMetadata.read(what, body));
    }
}

package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.grant.NamespaceAccess;
import dev.siphon.controller.grant.NamespaceAccessStore;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.kubernetes.resource.NamespaceAccessObject;
import dev.siphon.csi.ByteSize;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.net.HttpURLConnection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/// What namespaces may use, as `NamespaceAccess` objects in each namespace.
final class KubernetesNamespaceAccessStore implements NamespaceAccessStore {
    private static final String API = "apis/siphon.dev/v1alpha1/";
    private static final String PLURAL = "namespaceaccesses";
    private static final String APPLY = "application/apply-patch+yaml";

    /// Some hundred bytes of each object are kept; one may have 100 KiB.
    private static final String PAGE = "?limit=250";

    private static final Keep PARTS = Keep.of("metadata.namespace", "metadata.name", "status.digest");

    /// Most accounts or datasets that an object names: some 100 KiB.
    static final int MOST = 1000;

    /// Most accounts or datasets in a line of `kubectl get`.
    private static final int IN_LINE = 5;

    private final KubernetesApi api;
    private final ObjectEvents events;

    /// @param driver the CSI driver's name
    KubernetesNamespaceAccessStore(KubernetesApi api, String driver) {
        this.api = api;
        this.events = new ObjectEvents(api, driver);
    }

    @Override
    public Optional<Map<NamespaceAccess.Key, String>> digests() {
        Map<NamespaceAccess.Key, String> digests = new HashMap<>();
        boolean isThere = ObjectParts.list(api, "list NamespaceAccesses", API + PLURAL + PAGE, PARTS, found -> {
            JsonObject object = found.kept();
            digests.put(
                    new NamespaceAccess.Key(
                            JsonParts.text(object, "metadata", "namespace").orElse(""),
                            JsonParts.text(object, "metadata", "name").orElse("")),
                    JsonParts.text(object, "status", "digest").orElse(""));
        });
        return isThere ? Optional.of(digests) : Optional.empty();
    }

    @Override
    public void put(NamespaceAccess access) {
        String body = api.json(object(access));
        // a deleted or terminating namespace needs none
        boolean _ = api.send(
                "apply NamespaceAccess " + access.key(),
                List.of(HttpURLConnection.HTTP_NOT_FOUND),
                path(access.key()) + "?fieldManager=siphon-controller&force=true",
                request -> request.patch(APPLY, body));
    }

    @Override
    public void remove(NamespaceAccess.Key key) {
        boolean _ = api.send(
                "delete NamespaceAccess " + key,
                List.of(HttpURLConnection.HTTP_NOT_FOUND),
                path(key),
                request -> request.delete("application/json", "{}"));
    }

    @Override
    public void warn(NamespaceAccess.Key key, String what) {
        events.warn("NamespaceAccess " + key, path(key), ObjectEvents.NEARLY_FULL, what);
    }

    @Override
    public int most() {
        return MOST;
    }

    private static String path(NamespaceAccess.Key key) {
        return API + "namespaces/" + key.namespace() + "/" + PLURAL + "/" + key.object();
    }

    private static NamespaceAccessObject object(NamespaceAccess access) {
        NamespaceAccessObject object = new NamespaceAccessObject();
        object.setMetadata(new ObjectMetaBuilder()
                .withName(access.key().object())
                .withNamespace(access.key().namespace())
                .addToLabels(KeySecret.MANAGED_BY, KeySecret.SIPHON)
                .build());
        object.setStatus(status(access));
        return object;
    }

    private static NamespaceAccessObject.Status status(NamespaceAccess access) {
        Collection<NamespaceAccess.ReadableDataset> datasets = access.datasets().values();
        return new NamespaceAccessObject.Status(
                access.digest(),
                inLine(new TreeSet<>(access.accounts().values())),
                line(access, KubernetesNamespaceAccessStore::size),
                line(access, KubernetesNamespaceAccessStore::where),
                Math.toIntExact(datasets.stream()
                        .filter(NamespaceAccess.ReadableDataset::ready)
                        .count()),
                datasets.size(),
                access.accounts().entrySet().stream()
                        .limit(MOST)
                        .map(each -> new NamespaceAccessObject.AccountEntry(each.getValue(), each.getKey()))
                        .toList(),
                Math.max(0, access.accounts().size() - MOST),
                access.datasets().entrySet().stream()
                        .limit(MOST)
                        .map(each -> dataset(each.getKey(), each.getValue()))
                        .toList(),
                Math.max(0, datasets.size() - MOST));
    }

    private static NamespaceAccessObject.DatasetEntry dataset(String name, NamespaceAccess.ReadableDataset dataset) {
        return new NamespaceAccessObject.DatasetEntry(
                name,
                dataset.bytes(),
                dataset.ready(),
                dataset.replicas()
                        .map(replicas -> new NamespaceAccessObject.ReplicasEntry(
                                replicas.local(), replicas.filling(), replicas.failed(), replicas.percent()))
                        .orElse(null));
    }

    /// Joins the non-empty texts of datasets to one line.
    private static String line(
            NamespaceAccess access, BiFunction<String, NamespaceAccess.ReadableDataset, Optional<String>> says) {
        Set<String> said = new LinkedHashSet<>();
        access.datasets().forEach((name, dataset) -> says.apply(name, dataset).ifPresent(said::add));
        return inLine(said);
    }

    private static Optional<String> size(String name, NamespaceAccess.ReadableDataset dataset) {
        String size = dataset.bytes() == 0 ? "" : " " + ByteSize.text(dataset.bytes());
        return Optional.of(name + size + (dataset.ready() ? "" : " (not ready)"));
    }

    private static Optional<String> where(String name, NamespaceAccess.ReadableDataset dataset) {
        return dataset.replicas().map(replicas -> {
            List<String> parts = new ArrayList<>();
            if (replicas.local() > 0) {
                parts.add("on " + nodes(replicas.local()));
            }
            if (replicas.filling() > 0) {
                parts.add(replicas.percent() + "% filled on " + nodes(replicas.filling()));
            }
            if (replicas.failed() > 0) {
                parts.add("failed on " + nodes(replicas.failed()));
            }
            return parts.isEmpty() ? name + " on no node" : name + " " + String.join("; ", parts);
        });
    }

    private static String nodes(int count) {
        return count == 1 ? "1 node" : count + " nodes";
    }

    private static String inLine(Set<String> names) {
        return names.stream().limit(IN_LINE).collect(Collectors.joining(", "))
                + (names.size() > IN_LINE ? " and " + (names.size() - IN_LINE) + " more" : "");
    }
}

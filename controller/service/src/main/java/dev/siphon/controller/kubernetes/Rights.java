package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.stream.Stream;

/// Checks the rights that the driver needs in Kubernetes, as listed in docs/reference/objects.md ("In
/// Kubernetes").
final class Rights {
    private static final String REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

    private static final String SIPHON = "siphon.dev";
    private static final String KUEUE = "kueue.x-k8s.io";

    private final KubernetesApi api;

    Rights(KubernetesApi api) {
        this.api = api;
    }

    /// One right.
    ///
    /// @param group of the resource; empty for the core
    /// @param name of a single object; empty for all
    /// @param inOwn only in the driver's namespace
    record Right(String verb, String group, String resource, String name, boolean inOwn) {
        @Override
        public String toString() {
            return verb + " " + resource + (name.isEmpty() ? "" : " " + name) + (inOwn ? "" : " everywhere");
        }
    }

    /// Returns the rights that every installation needs.
    static Stream<Right> needed() {
        return Stream.of(
                        own("", "secrets", "", "get", "list", "create", "update", "delete"),
                        own("", "configmaps", "", "create"),
                        own("", "configmaps", KubernetesGrantsStore.NAME, "get", "patch"),
                        own("", "configmaps", KubernetesMonitorStore.NAME, "get", "patch"),
                        own("coordination.k8s.io", "leases", "", "create"),
                        own("coordination.k8s.io", "leases", Leadership.LEASE, "get", "update", "patch"),
                        everywhere("", "namespaces", "get", "list", "watch"),
                        everywhere("", "persistentvolumes", "get", "list", "watch"),
                        everywhere("", "persistentvolumeclaims", "get", "list", "watch"),
                        everywhere("", "pods", "get", "list", "watch", "patch"),
                        everywhere("", "pods/status", "patch"),
                        everywhere("", "nodes", "list", "watch"),
                        everywhere("", "events", "list", "create"),
                        everywhere(SIPHON, "datasets", "get", "list", "watch"),
                        everywhere(SIPHON, "datasets/status", "patch"),
                        everywhere(SIPHON, "datasetaccesses", "get", "list", "watch"),
                        everywhere(SIPHON, "datasetaccesses/status", "patch"),
                        everywhere(SIPHON, "namespaceaccesses", "get", "list", "create", "patch", "delete"),
                        everywhere(SIPHON, "datasetreplicas", "list", "watch", "create", "patch", "delete"),
                        everywhere(SIPHON, "datasetwarmups", "list", "watch"),
                        everywhere(SIPHON, "datasetwarmups/status", "patch"),
                        everywhere(SIPHON, "datasetimports", "list", "watch"),
                        everywhere(SIPHON, "datasetimports/status", "patch"))
                .flatMap(rights -> rights);
    }

    /// Returns the additional rights if the chart's `snapshots` allows VolumeSnapshots to become datasets.
    private static Stream<Right> neededForPackers() {
        return Stream.of(
                        own("batch", "jobs", "", "get", "list", "create", "delete"),
                        own("", "persistentvolumeclaims", "", "create", "delete"),
                        own("", "pods/log", "", "get"),
                        everywhere("", "persistentvolumes", "create", "delete"),
                        everywhere(SIPHON, "datasets", "create", "delete"),
                        everywhere("snapshot.storage.k8s.io", "volumesnapshots", "get"))
                .flatMap(rights -> rights);
    }

    /// Returns the additional rights if the chart's `kueue.enabled` lets the driver answer Kueue's admission checks.
    static Stream<Right> neededForKueue() {
        return Stream.of(
                        everywhere(KUEUE, "workloads", "list", "watch", "patch"),
                        everywhere(KUEUE, "workloads/status", "patch"),
                        everywhere(KUEUE, "admissionchecks", "list", "watch"),
                        everywhere(KUEUE, "admissionchecks/status", "patch"),
                        everywhere(KUEUE, "resourceflavors", "list", "watch"),
                        everywhere(SIPHON, "datasetchecks", "list", "watch"))
                .flatMap(rights -> rights);
    }

    /// Returns the additional rights if the chart's `imports` allows people to import datasets.
    private static Stream<Right> neededForFetchers() {
        return Stream.of(
                        everywhere("", "persistentvolumeclaims", "create", "delete"),
                        everywhere("batch", "jobs", "get", "create", "delete"),
                        everywhere("snapshot.storage.k8s.io", "volumesnapshots", "get", "create", "delete"),
                        everywhere("snapshot.storage.k8s.io", "volumesnapshotcontents", "get"),
                        everywhere(SIPHON, "datasets", "patch"))
                .flatMap(rights -> rights);
    }

    private static Stream<Right> own(String group, String resource, String name, String... verbs) {
        return Stream.of(verbs).map(verb -> new Right(verb, group, resource, name, true));
    }

    private static Stream<Right> everywhere(String group, String resource, String... verbs) {
        return Stream.of(verbs).map(verb -> new Right(verb, group, resource, "", false));
    }

    /// Returns the missing rights in words; empty if there are none. Sends one request per right.
    List<String> missing() {
        Right toQueue = new Right("list", SIPHON, "datasetchecks", "", false);
        Right toPack = new Right("get", "", "podtemplates", KubernetesSealing.TEMPLATE, true);
        Right toFetch = new Right("get", "", "podtemplates", KubernetesImports.TEMPLATE, true);
        return Stream.of(
                        needed(),
                        has(toPack) ? neededForPackers() : Stream.<Right>of(),
                        has(toFetch) ? neededForFetchers() : Stream.<Right>of(),
                        has(toQueue) ? neededForKueue() : Stream.<Right>of())
                .flatMap(rights -> rights)
                .filter(right -> !has(right))
                .map(Right::toString)
                .toList();
    }

    private boolean has(Right right) {
        return api.find("ask whether to " + right, server -> isAllowed(server, right))
                .orElse(false);
    }

    /// Builds the JSON by hand, since the classes of these objects are in a separate jar.
    private boolean isAllowed(KubernetesClient server, Right right) {
        JsonObject attributes = new JsonObject();
        attributes.addProperty("verb", right.verb());
        attributes.addProperty("group", right.group());
        String[] resource = right.resource().split("/", 2);
        attributes.addProperty("resource", resource[0]);
        attributes.addProperty("subresource", resource.length > 1 ? resource[1] : "");
        attributes.addProperty("name", right.name());
        if (right.inOwn()) {
            attributes.addProperty("namespace", api.namespace());
        }
        JsonObject spec = new JsonObject();
        spec.add("resourceAttributes", attributes);
        JsonObject review = new JsonObject();
        review.addProperty("apiVersion", "authorization.k8s.io/v1");
        review.addProperty("kind", "SelfSubjectAccessReview");
        review.add("spec", spec);
        return JsonParser.parseString(server.raw(REVIEWS, "POST", review.toString()))
                .getAsJsonObject()
                .getAsJsonObject("status")
                .get("allowed")
                .getAsBoolean();
    }
}

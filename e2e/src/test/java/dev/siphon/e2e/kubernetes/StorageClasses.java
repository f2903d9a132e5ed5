package dev.siphon.e2e.kubernetes;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.LinkedHashMap;
import java.util.Map;

/// Classes that an administrator derives from `siphon`, the installation's own.
final class StorageClasses {
    private static final String VERSION = "storage.k8s.io/v1";
    private static final String KIND = "StorageClass";

    private StorageClasses() {}

    /// Creates a class with the parameters of `siphon`, overridden and extended by these.
    static void derive(Cluster cluster, String name, Map<String, String> parameters) {
        GenericKubernetesResource made = cluster.client()
                .genericKubernetesResources(VERSION, KIND)
                .withName("siphon")
                .require();
        made.setMetadata(new ObjectMetaBuilder().withName(name).build());
        Map<Object, Object> all = new LinkedHashMap<>((Map<?, ?>) made.get("parameters"));
        all.putAll(parameters);
        made.setAdditionalProperty("parameters", all);
        var _ = cluster.client()
                .genericKubernetesResources(VERSION, KIND)
                .resource(made)
                .create();
    }

    static void delete(Cluster cluster, String name) {
        var _ = cluster.client()
                .genericKubernetesResources(VERSION, KIND)
                .withName(name)
                .delete();
    }
}

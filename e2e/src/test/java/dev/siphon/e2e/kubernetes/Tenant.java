package dev.siphon.e2e.kubernetes;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;

/// A namespace and the account that its pods run as. Its users create claims and pods there.
///
/// @param number of the account: u7 has the uid and the gid 10007
record Tenant(Cluster cluster, String namespace, int number) implements AutoCloseable {
    private static final int FIRST_UID = 10_000;

    /// Creates a namespace with an account's name, which that account therefore owns.
    static Tenant ofAccount(Cluster cluster, int number) {
        return of(cluster, "u" + number, number, Map.of());
    }

    /// Creates a namespace of any name, with annotations.
    static Tenant of(Cluster cluster, String namespace, int number, Map<String, String> annotations) {
        KubernetesClient client = cluster.client();
        var _ = client.namespaces()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(namespace)
                        .withAnnotations(annotations)
                        .endMetadata()
                        .build())
                .create();
        // pods need it
        var _ = cluster.await(
                "the service account of " + namespace,
                client.serviceAccounts().inNamespace(namespace).withName("default"),
                Objects::nonNull);
        return new Tenant(cluster, namespace, number);
    }

    /// Returns the account's name.
    String account() {
        return "u" + number;
    }

    int uid() {
        return FIRST_UID + number;
    }

    /// Claims a volume of class `siphon` that many pods may write.
    TestClaim claim(String name, String size) {
        return claim(name, size, UnaryOperator.identity());
    }

    /// Does the same with changes.
    TestClaim claim(String name, String size, UnaryOperator<PersistentVolumeClaimBuilder> change) {
        PersistentVolumeClaim claim = change.apply(new PersistentVolumeClaimBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .withNewSpec()
                        .withStorageClassName("siphon")
                        .withAccessModes("ReadWriteMany")
                        .withNewResources()
                        .addToRequests("storage", new Quantity(size))
                        .endResources()
                        .endSpec())
                .build();
        var _ = cluster.client()
                .persistentVolumeClaims()
                .inNamespace(namespace)
                .resource(claim)
                .create();
        return claimCalled(name);
    }

    /// Claims a dataset that many pods may read.
    TestClaim datasetClaim(String name, String dataset) {
        return claim(
                name,
                "1Gi",
                claim -> claim.editMetadata()
                        .addToAnnotations("siphon.dev/dataset", dataset)
                        .endMetadata()
                        .editSpec()
                        .withAccessModes("ReadOnlyMany")
                        .endSpec());
    }

    /// Returns an existing claim.
    TestClaim claimCalled(String name) {
        return new TestClaim(cluster, namespace, name);
    }

    /// Specifies a pod of this namespace that runs as the account.
    PodRequest pod(String name, String script) {
        return PodRequest.of(this, name, script);
    }

    /// Returns a pod that exists or will exist.
    TestPod podCalled(String name) {
        return new TestPod(cluster, namespace, name);
    }

    /// Deletes its snapshots, after the pods and claims that show them: a dataset in use cannot be deleted.
    void deleteSnapshots() {
        for (String each : List.of("pods", "persistentvolumeclaims", "volumegroupsnapshots", "volumesnapshots")) {
            var _ = cluster.kubectl("-n", namespace, "delete", each, "--all");
        }
    }

    /// Deletes the namespace and waits until it and its claims' volumes are gone.
    @Override
    public void close() {
        KubernetesClient client = cluster.client();
        var _ = client.namespaces().withName(namespace).delete();
        var _ = cluster.await(
                "the end of namespace " + namespace, client.namespaces().withName(namespace), Objects::isNull);
        var _ = cluster.awaitAll(
                "the end of the volumes of " + namespace,
                client.persistentVolumes(),
                volumes -> volumes.stream()
                        .noneMatch(volume -> volume.getSpec().getClaimRef() != null
                                && namespace.equals(
                                        volume.getSpec().getClaimRef().getNamespace())));
    }
}

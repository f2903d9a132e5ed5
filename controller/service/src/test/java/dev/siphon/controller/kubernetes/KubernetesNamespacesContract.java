package dev.siphon.controller.kubernetes;

import dev.siphon.controller.identity.Namespaces;
import dev.siphon.controller.identity.NamespacesContract;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;

/// [KubernetesNamespaces] over an API server.
abstract class KubernetesNamespacesContract extends NamespacesContract {
    private final List<KubernetesAdapter> opened = new ArrayList<>();

    /// Each test has its own names, because a deleted namespace remains for a while.
    private String unique = UUID.randomUUID().toString();

    private final List<String> made = new ArrayList<>();

    abstract TestCluster cluster();

    @AfterEach
    void removeWhatWasMade() {
        made.forEach(name -> cluster().admin().namespaces().withName(name).delete());
        made.clear();
        opened.forEach(KubernetesAdapter::close);
        unique = UUID.randomUUID().toString();
    }

    @Override
    protected Namespaces namespaces() {
        KubernetesAdapter adapter = cluster().adapter();
        opened.add(adapter);
        return adapter.namespaces();
    }

    @Override
    protected String annotate(String name, Map<String, String> annotations) {
        String namespace = name + "-" + unique;
        var resource = cluster().admin().namespaces().withName(namespace);
        Optional<Namespace> there = Optional.ofNullable(resource.get());
        Namespace wanted = there.map(NamespaceBuilder::new)
                .orElseGet(NamespaceBuilder::new)
                .editOrNewMetadata()
                .withName(namespace)
                .withAnnotations(annotations)
                .endMetadata()
                .build();
        if (there.isPresent()) {
            cluster().admin().namespaces().resource(wanted).update();
        } else {
            cluster().admin().namespaces().resource(wanted).create();
            made.add(namespace);
        }
        return namespace;
    }

    @Override
    protected String claim(String namespace, String name, Map<String, String> annotations) {
        PersistentVolumeClaim claim = new PersistentVolumeClaimBuilder()
                .withNewMetadata()
                .withName(name)
                .withAnnotations(annotations)
                .endMetadata()
                .withNewSpec()
                .withAccessModes("ReadWriteMany")
                .withStorageClassName("none")
                .withNewResources()
                .withRequests(Map.of("storage", new Quantity("1Gi")))
                .endResources()
                .endSpec()
                .build();
        return cluster()
                .admin()
                .persistentVolumeClaims()
                .inNamespace(namespace)
                .resource(claim)
                .create()
                .getMetadata()
                .getUid();
    }

    @Override
    protected void removeClaim(String namespace, String name) {
        var claims = cluster().admin().persistentVolumeClaims().inNamespace(namespace);
        // no pod uses it, and in some clusters of the tests no controller runs that would check
        PersistentVolumeClaim unprotected = new PersistentVolumeClaimBuilder(
                        claims.withName(name).get())
                .editMetadata()
                .withFinalizers(List.of())
                .endMetadata()
                .build();
        claims.resource(unprotected).update();
        claims.withName(name).delete();
        // where a controller runs, it may have protected the claim again
        var _ = claims.withName(name)
                .waitUntilCondition(Objects::isNull, TestCluster.PATIENT.toSeconds(), TimeUnit.SECONDS);
    }
}

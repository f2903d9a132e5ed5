package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.kubernetes.PersistentVolumes.ClaimKey;
import dev.siphon.controller.volume.ClaimRef;
import dev.siphon.controller.warm.WarmupCluster.ClaimContent;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class GateClaimsTest {
    private static final ClaimKey CLAIM = new ClaimKey("u1", "data");
    private static final Optional<ClaimContent> CONTENT = Optional.of(new ClaimContent.Named("u1/x"));

    private static PersistentVolumeClaim claim() {
        return new PersistentVolumeClaimBuilder()
                .withNewMetadata()
                .withNamespace(CLAIM.namespace())
                .withName(CLAIM.name())
                .addToAnnotations(ClaimRef.DATASET, "u1/x")
                .endMetadata()
                .build();
    }

    /// A list shows the new claim and misses the old one, which had the same content.
    @Test
    void aClaimThatWasDeletedAndCreatedAgainIsKnown(@TempDir Path folder) {
        try (TestCluster cluster = TestCluster.inMemory(folder);
                KubernetesApi api = new KubernetesApi(cluster.access(), () -> TestCluster.PATIENT)) {
            var _ = cluster.admin().raw("/api/v1/namespaces", "POST", "{\"metadata\": {\"name\": \"u1\"}}");
            GateClaims claims = new GateClaims(api, new PersistentVolumes(api, "cephfs.siphon.dev"));
            var one = cluster.admin().persistentVolumeClaims().resource(claim());
            one.create();
            assertEquals(CONTENT, claims.of(CLAIM), "before it is followed each reading lists");
            one.delete();
            one.create();
            assertEquals(CONTENT, claims.of(CLAIM));
            one.delete();
            assertEquals(Optional.empty(), claims.of(CLAIM));
        }
    }
}

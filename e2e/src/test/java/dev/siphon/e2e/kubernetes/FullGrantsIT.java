package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import dev.siphon.e2e.lab.Await;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// An account with so many datasets that the ConfigMap of all grants has no room for it, with the installed RBAC
/// and policies.
@Tag("kubernetes")
@AloneOnCluster
final class FullGrantsIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String VERSION = "siphon.dev/v1alpha1";
    private static final String LABEL = "siphon-it";
    private static final int DATASETS = 1500;
    private static final String CLASS = "of-u55";

    /// Long, so that its grant exceeds the room that datasets leave.
    private static final String NAMESPACE = "late-" + "x".repeat(55);

    @SuppressWarnings("NullAway.Init")
    private static Tenant late;

    @BeforeAll
    static void fill() {
        var _ = Installation.in(CLUSTER);
        StorageClasses.derive(CLUSTER, CLASS, Map.of("owner", "u55"));
        IntStream.range(0, DATASETS).parallel().forEach(FullGrantsIT::declare);
        var _ = CLUSTER.await(
                "the grants of all are partial",
                CLUSTER.client()
                        .configMaps()
                        .inNamespace(Installation.NAMESPACE)
                        .withName("siphon-grants"),
                map -> map != null
                        && map.getData().getOrDefault("grants.json", "").contains("partial"));
    }

    private static void declare(int number) {
        GenericKubernetesResource dataset = new GenericKubernetesResource();
        dataset.setApiVersion(VERSION);
        dataset.setKind("Dataset");
        dataset.setMetadata(new ObjectMetaBuilder()
                .withName("u55.set-" + number)
                .withLabels(Map.of(LABEL, "full"))
                .build());
        dataset.setAdditionalProperty(
                "spec",
                Map.of(
                        "fsName",
                        CLUSTER.lab().fileSystem(),
                        "path",
                        "/d/" + number,
                        "digest",
                        "%064x".formatted(number),
                        "readers",
                        List.of("u55")));
        var _ = CLUSTER.client().resource(dataset).create();
    }

    @AfterAll
    static void end() {
        late.close();
        StorageClasses.delete(CLUSTER, CLASS);
        var _ = CLUSTER.client()
                .genericKubernetesResources(VERSION, "Dataset")
                .withLabel(LABEL, "full")
                .delete();
        var _ = CLUSTER.await(
                "the grants of all have room",
                CLUSTER.client()
                        .configMaps()
                        .inNamespace(Installation.NAMESPACE)
                        .withName("siphon-grants"),
                map -> map != null
                        && !map.getData().getOrDefault("grants.json", "").contains("partial"));
    }

    @Test
    void aPodIsLetInByTheObjectOfItsNamespace() {
        late = Tenant.of(CLUSTER, NAMESPACE, 55, Map.of());
        var _ = late.claim(
                "data",
                "64Mi",
                claim -> claim.editSpec().withStorageClassName(CLASS).endSpec());
        TestPod pod = late.pod("pod", "echo late >/data/file; cat /data/file")
                .withClaim("data")
                .create()
                .succeeded();

        assertEquals("late", pod.log().strip());
        String all = CLUSTER.client()
                .configMaps()
                .inNamespace(Installation.NAMESPACE)
                .withName("siphon-grants")
                .get()
                .getData()
                .getOrDefault("grants.json", "");
        assertFalse(
                JsonParser.parseString(all)
                        .getAsJsonObject()
                        .getAsJsonObject("groups")
                        .toString()
                        .contains(NAMESPACE),
                all);
        String own = CLUSTER.kubectl("-n", NAMESPACE, "get", "namespaceaccess", "siphon", "-o", "json");
        assertTrue(own.contains("\"name\": \"u55\""), own);
    }

    @Test
    void whoDescribesTheConfigMapIsWarned() {
        Await.until(
                "the ConfigMap has an event that warns of the account",
                Duration.ofSeconds(60),
                () -> CLUSTER.kubectl("-n", Installation.NAMESPACE, "describe", "configmap", "siphon-grants")
                        .lines()
                        .anyMatch(line -> line.contains("NearlyFull")
                                && line.contains("account u55 takes four fifths or more of")));
    }
}

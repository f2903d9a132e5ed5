package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class KubernetesNamespacesTest extends KubernetesNamespacesContract {
    private TestCluster cluster;

    @BeforeAll
    void start(@TempDir Path folder) {
        cluster = TestCluster.inMemory(folder);
    }

    @AfterAll
    void stop() {
        cluster.close();
    }

    @Test
    void whatOthersWroteAtAnObjectIsNotHeld() {
        String team = annotate("fat", Map.of("siphon.dev/owners", "u1"));
        var admin = cluster.admin().namespaces();
        Map<String, String> labels = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            labels.put("label-" + i, "x".repeat(60));
        }
        admin.resource(new NamespaceBuilder(admin.withName(team).get())
                        .editMetadata()
                        .withLabels(labels)
                        .endMetadata()
                        .build())
                .update();
        assertEquals(
                Optional.of(Map.of("siphon.dev/owners", "u1")), namespaces().annotations(team));
    }

    @Test
    void annotationsThatAreTooLargeAreRefusedByName() {
        String team = annotate("much", Map.of("note", "x".repeat(130 << 10)));
        claim(team, "data", Map.of("note", "x".repeat(130 << 10)));
        String ofNamespace = assertThrows(
                        DriverException.InUse.class, () -> namespaces().annotations(team))
                .getMessage();
        assertTrue(ofNamespace.contains("annotations of Namespace " + team), ofNamespace);
        String ofClaim = assertThrows(
                        DriverException.InUse.class, () -> namespaces().claim(team, "data"))
                .getMessage();
        assertTrue(ofClaim.contains("annotations of PersistentVolumeClaim " + team + "/data"), ofClaim);
        assertTrue(ofClaim.contains("remove some"), ofClaim);
    }

    @Test
    void oneWithTooManyHoldsUpNoOther() {
        String much = annotate("much", Map.of("siphon.dev/owners", "x".repeat(130 << 10)));
        String team = annotate("team", Map.of("siphon.dev/owners", "u1"));
        Map<String, Map<String, String>> all = new HashMap<>();
        namespaces().all(Set.of("siphon.dev/owners"), all::put);
        assertEquals(Map.of(), all.get(much));
        assertEquals(Map.of("siphon.dev/owners", "u1"), all.get(team));
    }

    /// Together the namespaces exceed what is kept of one page.
    @Test
    void manyWithMuchAreListedInSmallerPages() {
        Set<String> much = new HashSet<>();
        for (int number = 0; number < 120; number++) {
            much.add(annotate("full-" + number, Map.of("siphon.dev/owners", "x".repeat(100 << 10))));
        }
        Map<String, Map<String, String>> all = new HashMap<>();
        namespaces().all(Set.of("siphon.dev/owners"), all::put);
        much.forEach(name -> assertEquals(Map.of("siphon.dev/owners", "x".repeat(100 << 10)), all.get(name), name));
    }

    @Override
    TestCluster cluster() {
        return cluster;
    }
}

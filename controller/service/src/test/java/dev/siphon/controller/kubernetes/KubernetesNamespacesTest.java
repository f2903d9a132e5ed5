package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.identity.Namespaces;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class KubernetesNamespacesTest extends KubernetesNamespacesContract {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Set<String> OWNERS = Set.of("siphon.dev/owners");

    private final InMemoryApiServer server = new InMemoryApiServer();
    private TestCluster cluster;

    @BeforeAll
    void start(@TempDir Path folder) {
        cluster = TestCluster.inMemory(folder, server);
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

    private static Map<String, String> annotations(Namespaces namespaces, String name) {
        Map<String, Map<String, String>> all = new HashMap<>();
        namespaces.all(OWNERS, all::put);
        return all.getOrDefault(name, Map.of());
    }

    @Test
    void whereTheyAreWatchedNoneIsListedAgain() throws Exception {
        String team = annotate("watched", Map.of("siphon.dev/owners", "u1", "other", "x"));
        String much = annotate("long", Map.of("siphon.dev/owners", "x".repeat(WatchedNamespaces.LONG + 1)));
        AtomicInteger lists = new AtomicInteger();
        try (KubernetesAdapter adapter = cluster.adapter();
                AutoCloseable _ = adapter.follow(new BackgroundTasks(), OWNERS)) {
            Namespaces watched = adapter.namespaces();
            assertEquals(Map.of("siphon.dev/owners", "u1"), annotations(watched, team));
            server.refuse(request -> {
                lists.addAndGet(request.equals("GET /api/v1/namespaces") ? 1 : 0);
                return OptionalInt.empty();
            });
            annotate("watched", Map.of("siphon.dev/owners", "u2"));
            CephLab.await(SOON, () -> annotations(watched, team).containsValue("u2"));
            assertEquals(
                    WatchedNamespaces.LONG + 1,
                    annotations(watched, much)
                            .getOrDefault("siphon.dev/owners", "")
                            .length());
            assertEquals(watched.uid(team), Optional.ofNullable(watched.uids().get(team)));
            assertEquals(0, lists.get());
        } finally {
            server.refuse(_ -> OptionalInt.empty());
        }
    }

    @Override
    TestCluster cluster() {
        return cluster;
    }
}

package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.imports.ImportCluster;
import dev.siphon.controller.imports.ImportReconciler;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.controller.volume.Owners.OwnerRule;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// More imports than the controller keeps, over an API server in memory.
@Timeout(120)
final class ManyImportsTest {
    private static final String IMPORTS = "/apis/siphon.dev/v1alpha1/namespaces/%s/datasetimports";

    @TempDir
    private Path folder = Path.of("");

    private Optional<TestCluster> started = Optional.empty();
    private Optional<KubernetesAdapter> adapter = Optional.empty();
    private Optional<ImportCluster> imports = Optional.empty();

    @BeforeEach
    void start() {
        TestCluster cluster = TestCluster.inMemory(folder);
        started = Optional.of(cluster);
        adapter = Optional.of(cluster.adapter());
        imports = adapter.map(KubernetesAdapter::imports);
    }

    @AfterEach
    void stop() {
        adapter.ifPresent(KubernetesAdapter::close);
        started.ifPresent(TestCluster::close);
    }

    private ImportCluster cluster() {
        return imports.orElseThrow();
    }

    private void post(String namespace, String name) {
        var _ = started.orElseThrow().admin().raw(IMPORTS.formatted(namespace), "POST", """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "DatasetImport",
                 "metadata": {"name": "%s", "namespace": "%s", "generation": 1},
                 "spec": {"source": {"claim": {"name": "raw"}}, "size": "1Gi"}}
                """.formatted(name, namespace));
    }

    private void post(String namespace, int count) {
        for (int i = 0; i < count; i++) {
            post(namespace, "i" + i);
        }
    }

    private JsonObject get(String namespace, String name) {
        return JsonParser.parseString(started.orElseThrow().admin().raw(IMPORTS.formatted(namespace) + "/" + name))
                .getAsJsonObject();
    }

    private void end(String namespace, String name, String phase) {
        JsonObject object = get(namespace, name);
        object.add("status", JsonParser.parseString("""
                {"phase": "%s", "dataset": "", "settledGeneration": 1, "reason": "Any", "message": ""}
                """.formatted(phase)));
        var _ = started.orElseThrow().admin().raw(IMPORTS.formatted(namespace) + "/" + name, "PUT", object.toString());
    }

    private long handled(String namespace) {
        return cluster().imports().stream()
                .filter(each -> each.namespace().equals(namespace))
                .count();
    }

    private void pass() {
        InMemoryDirectory directory = new InMemoryDirectory(Map.of());
        directory.put(new Account("u1", "id", 10001, 10001, Set.of(), OptionalLong.empty()));
        new ImportReconciler(
                        cluster(),
                        new NamespaceAccounts(Optional.of(OwnerRule.parse("namespace")), Optional.empty()),
                        directory,
                        new InMemoryCeph().ports().files())
                .reconcile();
    }

    private String status(String namespace, String name, String field) {
        return JsonParts.text(get(namespace, name), "status", field).orElse("");
    }

    @Test
    void moreThanANamespaceMayHaveAreToldSoAndOthersGetOn() {
        post("u1", KnownImports.OPEN.ofNamespace() + 2);
        post("u2", 1);
        assertEquals(KnownImports.OPEN.ofNamespace(), handled("u1"));
        assertEquals(1, handled("u2"));
        assertEquals(2, cluster().leftOut().size());
        ImportCluster.LeftOut first = cluster().leftOut().getFirst();
        pass();
        String name = first.wanted().name();
        assertEquals("TooManyImports", status("u1", name, "reason"));
        assertEquals("Reserving", status("u1", name, "phase"));
        assertTrue(status("u1", name, "message").contains("50 imports that have not ended"), first.why());
        assertEquals(0, cluster().imports().size() - KnownImports.OPEN.ofNamespace() - 1);
        assertEquals(0, cluster().leftOut().size(), "they are told once");
    }

    @Test
    void anImportThatWasLeftOutBeginsOnceOthersHaveEnded() {
        post("u1", KnownImports.OPEN.ofNamespace() + 1);
        var _ = cluster().imports();
        pass();
        String waiting = waiting();
        end("u1", waiting.equals("i0") ? "i1" : "i0", "Ready");
        var _ = cluster().imports();
        assertTrue(
                cluster().imports().stream().anyMatch(each -> each.name().equals(waiting)),
                "an import that is ready left a place");
    }

    private String waiting() {
        for (int i = 0; i <= KnownImports.OPEN.ofNamespace(); i++) {
            if (status("u1", "i" + i, "reason").equals("TooManyImports")) {
                return "i" + i;
            }
        }
        throw new AssertionError("no import was left out");
    }

    @Test
    void whatHasEndedTakesNoPlace() {
        post("u1", 2 * KnownImports.OPEN.ofNamespace());
        for (int i = 0; i < KnownImports.OPEN.ofNamespace(); i++) {
            end("u1", "i" + i, i % 2 == 0 ? "Ready" : "Failed");
        }
        assertEquals(KnownImports.OPEN.ofNamespace() * 3 / 2, handled("u1"), "failed ones need no memory");
        assertEquals(0, cluster().leftOut().size());
    }

    /// They would fill the memory of the controller otherwise.
    @Test
    void notAllReadyImportsAreWatched() {
        int more = KnownImports.READY.ofNamespace() + 3;
        post("u1", more);
        for (int i = 0; i < more; i++) {
            end("u1", "i" + i, "Ready");
        }
        post("u1", "open");
        assertEquals(KnownImports.READY.ofNamespace() + 1, handled("u1"));
        assertEquals(0, cluster().leftOut().size(), "their status stays as it is");
        assertFalse(status("u1", "i1", "reason").equals("TooManyImports"));
    }

    @Test
    void aFloodIsToldPartByPart() {
        post("u1", KnownImports.OPEN.ofNamespace() + KnownImports.UNTOLD + 20);
        var _ = cluster().imports();
        assertEquals(KnownImports.UNTOLD, cluster().leftOut().size());
        while (!cluster().leftOut().isEmpty()) {
            pass();
        }
        var _ = cluster().imports();
        assertEquals(0, cluster().leftOut().size());
        assertEquals(
                KnownImports.UNTOLD + 20,
                IntStream.range(0, KnownImports.OPEN.ofNamespace() + KnownImports.UNTOLD + 20)
                        .filter(i -> status("u1", "i" + i, "reason").equals("TooManyImports"))
                        .count());
    }
}

package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.imports.ImportReconciler;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.controller.volume.Owners.OwnerRule;
import dev.siphon.csi.SnapshotId;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Imports of which each step is another leader's, which knows only what is in the API server.
@Timeout(120)
final class ImportsOfLeadersTest {
    private static final String NAMESPACE = "/api/v1/namespaces/u1";
    private static final String IMPORTS = "/apis/siphon.dev/v1alpha1/namespaces/u1/datasetimports";
    private static final String CLAIMS = NAMESPACE + "/persistentvolumeclaims";
    private static final String JOBS = "/apis/batch/v1/namespaces/u1/jobs";
    private static final String SNAPSHOTS = "/apis/snapshot.storage.k8s.io/v1/namespaces/u1/volumesnapshots";
    private static final String DATASETS = "/apis/siphon.dev/v1alpha1/datasets";
    private static final String MERGE = "{\"status\": %s}";
    private static final SnapshotId SNAPSHOT = SnapshotId.parse("s1:lab:cephfs:ag:vv@i00000000000000000000");
    private static final int PASSES = 4;

    @TempDir
    private Path folder = Path.of("");

    private Optional<TestCluster> started = Optional.empty();
    private final InMemoryDirectory directory = new InMemoryDirectory(Map.of());

    @BeforeEach
    void start() {
        TestCluster cluster = TestCluster.inMemory(folder);
        started = Optional.of(cluster);
        var _ = cluster.admin()
                .namespaces()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName("u1")
                        .endMetadata()
                        .build())
                .create();
        post("/api/v1/namespaces/siphon/podtemplates", """
                {"metadata": {"name": "siphon-fetcher", "annotations": {"siphon.dev/storage-class": "siphon"}},
                 "template": {"spec": {"containers": [{"name": "fetcher", "image": "siphon"}]}}}
                """);
        directory.put(new Account("u1", "id", 10001, 10001, Set.of("vision"), OptionalLong.empty()));
    }

    @AfterEach
    void stop() {
        started.ifPresent(TestCluster::close);
    }

    private void post(String collection, String object) {
        var _ = started.orElseThrow().admin().raw(collection, "POST", object);
    }

    private void patch(String path, String change) {
        JsonObject object = get(path);
        JsonObject status = JsonParser.parseString(change).getAsJsonObject();
        status.entrySet().forEach(each -> object.add(each.getKey(), each.getValue()));
        var _ = started.orElseThrow().admin().raw(path, "PUT", object.toString());
    }

    private JsonObject get(String path) {
        return JsonParser.parseString(started.orElseThrow().admin().raw(path)).getAsJsonObject();
    }

    private boolean isThere(String path) {
        return Optional.ofNullable(started.orElseThrow().admin().raw(path)).isPresent();
    }

    private void apply(String name, String groups) {
        apply(name, groups, false);
    }

    private void apply(String name, String groups, boolean keepVolume) {
        post(IMPORTS, """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "DatasetImport",
                 "metadata": {"name": "%s", "namespace": "u1"},
                 "spec": {"source": {"claim": {"name": "raw"}}, "size": "1Gi", "readers": {"groups": [%s]},
                   "keepVolume": %s}}
                """.formatted(name, groups, keepVolume));
    }

    /// Runs some passes, each by a controller that has just become the leader.
    private void pass() {
        for (int pass = 0; pass < PASSES; pass++) {
            try (KubernetesAdapter adapter = started.orElseThrow().adapter()) {
                new ImportReconciler(
                                adapter.imports(),
                                new NamespaceAccounts(Optional.of(OwnerRule.parse("namespace")), Optional.empty()),
                                directory,
                                new InMemoryCeph().ports().files())
                        .reconcile();
            }
        }
    }

    private String status(String name, String field) {
        return JsonParts.text(get(IMPORTS + "/" + name), "status", field).orElse("");
    }

    private void bind() {
        post("/api/v1/persistentvolumes", """
                {"metadata": {"name": "pv"}, "spec": {"csi": {"driver": "cephfs.siphon.dev",
                  "volumeHandle": "s1:lab:cephfs:ag:vv", "volumeAttributes": {"mountPath": "/volumes/ag/vv/x"}}}}
                """);
        patch(CLAIMS + "/x-import", "{\"spec\": {\"volumeName\": \"pv\"}, \"status\": {\"phase\": \"Bound\"}}");
    }

    private void seal() {
        String uid = JsonParts.text(get(SNAPSHOTS + "/x"), "metadata", "uid").orElseThrow();
        post("/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents", """
                {"metadata": {"name": "c"}, "spec": {"volumeSnapshotRef": {"uid": "%s"}},
                 "status": {"snapshotHandle": "%s"}}
                """.formatted(uid, SNAPSHOT));
        declare();
        patch(SNAPSHOTS + "/x", MERGE.formatted("{\"readyToUse\": true, \"boundVolumeSnapshotContentName\": \"c\"}"));
    }

    private void declare() {
        post(DATASETS, """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "Dataset", "metadata": {"name": "u1.x"},
                 "spec": {"fsName": "cephfs", "path": "%s", "digest": "%s", "bytes": 1, "readers": ["u1"]},
                 "status": {"pods": 2, "nodes": [{"name": "n", "pods": 2, "namespaces": ["b", "a"]}]}}
                """.formatted(new DatasetPlace(SNAPSHOT).path(), "0".repeat(64)));
    }

    private void end(String condition) {
        patch(
                JOBS + "/x-import",
                MERGE.formatted("{\"conditions\": [{\"type\": \"" + condition + "\", \"status\": \"True\"}]}"));
    }

    @Test
    void anImportGetsToItsEndWhicheverLeaderTakesAStep() {
        apply("x", "\"vision\"");
        pass();
        assertEquals("Reserving", status("x", "phase"));
        assertFalse(isThere(JOBS + "/x-import"), "the room is reserved first");
        bind();
        pass();
        assertEquals("Fetching", status("x", "phase"));
        assertFalse(isThere(SNAPSHOTS + "/x"));
        end("Complete");
        pass();
        assertEquals("Sealing", status("x", "phase"));
        seal();
        pass();
        pass();
        assertEquals("Ready", status("x", "phase"));
        assertEquals("u1/x", status("x", "dataset"));
        assertEquals("1", status("x", "settledGeneration"));
        assertFalse(isThere(JOBS + "/x-import"));
        assertFalse(isThere(CLAIMS + "/x-import"));
        assertTrue(isThere(SNAPSHOTS + "/x"));
        pass();
        assertEquals("2", status("x", "pods"));
        assertEquals(
                "[\"a\",\"b\"]",
                JsonParts.at(get(IMPORTS + "/x"), "status", "usedBy")
                        .orElseThrow()
                        .toString());
        assertEquals(Set.of("u1", "group:vision"), readers());
    }

    /// Brings import `x` to its end.
    private void finish() {
        pass();
        bind();
        pass();
        end("Complete");
        pass();
        seal();
        pass();
        pass();
        assertEquals("Ready", status("x", "reason"));
    }

    private void delete(String path) {
        var _ = started.orElseThrow().admin().raw(path, "DELETE", null);
    }

    private Set<String> readers() {
        return new TreeSet<>(
                JsonParts.words(get(DATASETS + "/u1.x"), "spec", "readers").toList());
    }

    /// Whoever asks for its account now fails.
    private void assertNothingIsAsked() {
        JsonObject before = get(IMPORTS + "/x");
        directory.down(true);
        pass();
        directory.down(false);
        assertEquals(before, get(IMPORTS + "/x"));
    }

    @Test
    void anImportSaysThatItsDatasetWasDeletedUntilItIsDeclaredAgain() {
        apply("x", "\"vision\"");
        finish();
        delete(DATASETS + "/u1.x");
        pass();
        assertEquals("DatasetDeleted", status("x", "reason"));
        assertEquals("1", status("x", "settledGeneration"));
        assertTrue(isThere(SNAPSHOTS + "/x"), "it has the dataset's image");
        assertNothingIsAsked();
        declare();
        pass();
        assertEquals("Ready", status("x", "reason"));
        assertEquals(Set.of("u1", "group:vision"), readers());
        assertNothingIsAsked();
    }

    @Test
    void aVolumeThatOutlivesItsDatasetIsNotAskedFor() {
        apply("x", "", true);
        finish();
        delete(SNAPSHOTS + "/x");
        delete(DATASETS + "/u1.x");
        pass();
        assertEquals("DatasetDeleted", status("x", "reason"));
        assertEquals("1", status("x", "settledGeneration"));
        assertTrue(isThere(CLAIMS + "/x-import"));
        assertNothingIsAsked();
    }

    private void member(String... groups) {
        directory.put(new Account("u1", "id", 10001, 10001, Set.of(groups), OptionalLong.empty()));
    }

    private void setGroups(String groups) {
        JsonObject readers =
                JsonParser.parseString("{\"groups\": [" + groups + "]}").getAsJsonObject();
        JsonObject object = get(IMPORTS + "/x");
        JsonParts.object(object, "spec").orElseThrow().add("readers", readers);
        var _ = started.orElseThrow().admin().raw(IMPORTS + "/x", "PUT", object.toString());
    }

    @Test
    void aReaderIsRemovedWhileAnotherIsDenied() {
        member("a", "b", "c");
        apply("x", "\"a\", \"b\"");
        finish();
        assertEquals(Set.of("u1", "group:a", "group:b"), readers());
        member("b", "c");
        setGroups("\"a\", \"c\"");
        pass();
        assertEquals(Set.of("u1", "group:a"), readers(), "b is withdrawn, and c is not given");
        assertEquals("NotAMember", status("x", "reason"));
        assertEquals("Ready", status("x", "phase"));
        setGroups("\"c\"");
        pass();
        assertEquals(Set.of("u1", "group:c"), readers());
        assertEquals("Ready", status("x", "reason"));
    }

    @Test
    void aReaderThatAnAdministratorRemovedIsNotGivenBackWhileAnotherIsDenied() {
        member("a", "b");
        apply("x", "\"a\", \"b\"");
        finish();
        JsonObject object = get(DATASETS + "/u1.x");
        JsonParts.object(object, "spec").orElseThrow().add("readers", JsonParser.parseString("[\"u1\", \"group:b\"]"));
        var _ = started.orElseThrow().admin().raw(DATASETS + "/u1.x", "PUT", object.toString());
        member();
        setGroups("\"a\"");
        pass();
        assertEquals(Set.of("u1"), readers());
        assertEquals("NotAMember", status("x", "reason"));
    }

    @Test
    void aReaderIsRemovedByAnAccountThatTheDirectoryNoLongerHas() {
        apply("x", "\"vision\"");
        finish();
        directory.remove("u1");
        setGroups("");
        pass();
        assertEquals(Set.of("u1"), readers());
        assertEquals("NoAccount", status("x", "reason"));
    }

    @Test
    void aFailedFetchLeavesNothing() {
        apply("x", "");
        pass();
        bind();
        pass();
        end("Failed");
        pass();
        pass();
        assertEquals("Failed", status("x", "phase"));
        assertEquals("FetchFailed", status("x", "reason"));
        assertFalse(isThere(JOBS + "/x-import"));
        assertFalse(isThere(CLAIMS + "/x-import"));
    }

    @Test
    void aGroupThatTheAccountIsNotInReservesNothing() {
        apply("x", "\"secret\"");
        pass();
        assertEquals("NotAMember", status("x", "reason"));
        assertFalse(isThere(CLAIMS + "/x-import"));
    }

    @Test
    void aSilentDirectoryDelaysAnImportAndFailsNone() {
        directory.down(true);
        apply("x", "");
        try {
            pass();
        } catch (dev.siphon.csi.DriverException.BackendUnavailable down) {
            assertTrue(String.valueOf(down.getMessage()).contains("directory"), down::getMessage);
        }
        assertEquals("", status("x", "phase"));
        directory.down(false);
        pass();
        assertEquals("Reserving", status("x", "phase"));
    }

    @Test
    void theFourthImportOfANamespaceWaits() {
        for (String name : new String[] {"a", "b", "c", "d"}) {
            apply(name, "");
        }
        pass();
        long begun = Set.of("a", "b", "c", "d").stream()
                .filter(name -> isThere(CLAIMS + "/" + name + "-import"))
                .count();
        assertEquals(3, begun);
    }
}

package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/// Imports of which each step is another leader's, which knows only what is in the API server.
abstract class ImportsOfLeaders {
    static final String NAMESPACE = "/api/v1/namespaces/u1";
    static final String IMPORTS = "/apis/siphon.dev/v1alpha1/namespaces/u1/datasetimports";
    static final String CLAIMS = NAMESPACE + "/persistentvolumeclaims";
    static final String JOBS = "/apis/batch/v1/namespaces/u1/jobs";
    static final String SNAPSHOTS = "/apis/snapshot.storage.k8s.io/v1/namespaces/u1/volumesnapshots";
    static final String DATASETS = "/apis/siphon.dev/v1alpha1/datasets";
    static final String MERGE = "{\"status\": %s}";
    static final SnapshotId SNAPSHOT = SnapshotId.parse("s1:lab:cephfs:ag:vv@i00000000000000000000");
    static final int PASSES = 4;

    @TempDir
    private Path folder = Path.of("");

    Optional<TestCluster> started = Optional.empty();
    final InMemoryDirectory directory = new InMemoryDirectory(Map.of());

    @BeforeEach
    void start() {
        TestCluster cluster = TestCluster.inMemory(folder);
        started = Optional.of(cluster);
        cluster.createNamespace("u1");
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

    void post(String collection, String object) {
        var _ = started.orElseThrow().admin().raw(collection, "POST", object);
    }

    void patch(String path, String change) {
        JsonObject object = get(path);
        JsonObject status = JsonParser.parseString(change).getAsJsonObject();
        status.entrySet().forEach(each -> object.add(each.getKey(), each.getValue()));
        var _ = started.orElseThrow().admin().raw(path, "PUT", object.toString());
    }

    JsonObject get(String path) {
        return JsonParser.parseString(started.orElseThrow().admin().raw(path)).getAsJsonObject();
    }

    boolean isThere(String path) {
        return Optional.ofNullable(started.orElseThrow().admin().raw(path)).isPresent();
    }

    void apply(String name, String groups) {
        apply(name, groups, false);
    }

    void apply(String name, String groups, boolean keepVolume) {
        post(IMPORTS, """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "DatasetImport",
                 "metadata": {"name": "%s", "namespace": "u1"},
                 "spec": {"source": {"claim": {"name": "raw"}}, "size": "1Gi", "readers": {"groups": [%s]},
                   "keepVolume": %s}}
                """.formatted(name, groups, keepVolume));
    }

    void pass() {
        pass("namespace");
    }

    /// Runs some passes, each by a controller that has just become the leader.
    void pass(String rule) {
        for (int pass = 0; pass < PASSES; pass++) {
            try (KubernetesAdapter adapter = started.orElseThrow().adapter()) {
                new ImportReconciler(
                                adapter.imports(),
                                new NamespaceAccounts(Optional.of(OwnerRule.parse(rule)), Optional.empty()),
                                directory,
                                new InMemoryCeph().ports().files())
                        .reconcile();
            }
        }
    }

    String status(String name, String field) {
        return JsonParts.text(get(IMPORTS + "/" + name), "status", field).orElse("");
    }

    void bind() {
        post("/api/v1/persistentvolumes", """
                {"metadata": {"name": "pv"}, "spec": {"csi": {"driver": "cephfs.siphon.dev",
                  "volumeHandle": "s1:lab:cephfs:ag:vv", "volumeAttributes": {"mountPath": "/volumes/ag/vv/x"}}}}
                """);
        patch(CLAIMS + "/x-import", "{\"spec\": {\"volumeName\": \"pv\"}, \"status\": {\"phase\": \"Bound\"}}");
    }

    void seal() {
        String uid = JsonParts.text(get(SNAPSHOTS + "/x"), "metadata", "uid").orElseThrow();
        post("/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents", """
                {"metadata": {"name": "c"}, "spec": {"volumeSnapshotRef": {"uid": "%s"}},
                 "status": {"snapshotHandle": "%s"}}
                """.formatted(uid, SNAPSHOT));
        declare();
        patch(SNAPSHOTS + "/x", MERGE.formatted("{\"readyToUse\": true, \"boundVolumeSnapshotContentName\": \"c\"}"));
    }

    void declare() {
        declare(new DatasetPlace(SNAPSHOT).path());
    }

    void declare(String path) {
        post(DATASETS, """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "Dataset", "metadata": {"name": "u1.x"},
                 "spec": {"fsName": "cephfs", "path": "%s", "digest": "%s", "bytes": 1, "readers": ["u1"]},
                 "status": {"pods": 2, "nodes": [{"name": "n", "pods": 2, "namespaces": ["b", "a"]}]}}
                """.formatted(path, "0".repeat(64)));
    }

    void end(String condition) {
        patch(
                JOBS + "/x-import",
                MERGE.formatted("{\"conditions\": [{\"type\": \"" + condition + "\", \"status\": \"True\"}]}"));
    }

    /// Brings import `x` to its end.
    void finish() {
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

    void delete(String path) {
        var _ = started.orElseThrow().admin().raw(path, "DELETE", null);
    }

    Set<String> readers() {
        return new TreeSet<>(
                JsonParts.words(get(DATASETS + "/u1.x"), "spec", "readers").toList());
    }

    /// Whoever asks for its account now fails.
    void assertNothingIsAsked() {
        JsonObject before = get(IMPORTS + "/x");
        directory.down(true);
        pass();
        directory.down(false);
        assertEquals(before, get(IMPORTS + "/x"));
    }

    void member(String... groups) {
        directory.put(new Account("u1", "id", 10001, 10001, Set.of(groups), OptionalLong.empty()));
    }

    void setGroups(String groups) {
        set(IMPORTS + "/x", "spec", "readers", "{\"groups\": [" + groups + "]}");
    }

    /// Changes one field of the spec or the status of an object.
    ///
    /// @param value in JSON
    void set(String path, String part, String field, String value) {
        JsonObject object = get(path);
        JsonParts.object(object, part).orElseThrow().add(field, JsonParser.parseString(value));
        var _ = started.orElseThrow().admin().raw(path, "PUT", object.toString());
    }
}

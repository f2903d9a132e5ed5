package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.imports.DatasetImport;
import dev.siphon.controller.imports.FetchProgress;
import dev.siphon.controller.imports.ImportCluster;
import dev.siphon.controller.imports.ImportSource;
import dev.siphon.controller.imports.ImportStatus;
import dev.siphon.controller.imports.ObservedImport.ClaimState;
import dev.siphon.controller.imports.ObservedImport.FetchState;
import dev.siphon.controller.imports.ObservedImport.Part;
import dev.siphon.controller.imports.ObservedImport.SealState;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.csi.SnapshotId;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// [KubernetesImports] over an API server in memory.
@Timeout(120)
final class KubernetesImportsTest {
    private static final String IMPORTS = "/apis/siphon.dev/v1alpha1/namespaces/u1/datasetimports";
    private static final String CLAIMS = "/api/v1/namespaces/u1/persistentvolumeclaims";
    private static final String JOBS = "/apis/batch/v1/namespaces/u1/jobs";
    private static final String SNAPSHOTS = "/apis/snapshot.storage.k8s.io/v1/namespaces/u1/volumesnapshots";
    private static final String CONTENTS = "/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents";
    private static final String EVENTS = "/api/v1/namespaces/u1/events";
    private static final String PODS = "/api/v1/namespaces/u1/pods";
    private static final String DATASETS = "/apis/siphon.dev/v1alpha1/datasets";
    private static final String FROM_CLAIM = "{\"claim\": {\"name\": \"raw\", \"path\": \"photos/2026\"}}";
    private static final ImportStatus READY = new ImportStatus(
            ImportStatus.Phase.READY,
            "Ready",
            "is there",
            "u1/photos",
            new FetchProgress(1, 2, 3, 4),
            Set.of("u1", "group:vision"),
            new ImportStatus.DatasetUses(5, List.of("a", "b")),
            1);
    private static final Account U1 = new Account("u1", "id", 10001, 10501, Set.of("vision"), OptionalLong.empty());

    @TempDir
    private Path folder = Path.of("");

    private Optional<TestCluster> started = Optional.empty();
    private Optional<KubernetesAdapter> adapter = Optional.empty();

    @BeforeEach
    void start() {
        TestCluster cluster = TestCluster.inMemory(folder);
        started = Optional.of(cluster);
        adapter = Optional.of(cluster.adapter());
        cluster.createNamespace("u1");
        var _ = post("/api/v1/namespaces/siphon/podtemplates", """
                {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "siphon-fetcher",
                   "annotations": {"siphon.dev/storage-class": "siphon", "siphon.dev/snapshot-class": "siphon-dataset",
                     "siphon.dev/longest-seconds": "3600"}},
                 "template": {"spec": {"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
                   "containers": [{"name": "fetcher", "image": "siphon", "args": ["--max-files=7"],
                     "command": ["siphon", "dataset", "fetch"]}]}}}
                """);
    }

    @AfterEach
    void stop() {
        adapter.ifPresent(KubernetesAdapter::close);
        started.ifPresent(TestCluster::close);
    }

    private ImportCluster cluster() {
        return adapter.orElseThrow().imports();
    }

    private JsonObject post(String collection, String object) {
        return JsonParser.parseString(started.orElseThrow().admin().raw(collection, "POST", object))
                .getAsJsonObject();
    }

    private JsonObject get(String path) {
        return JsonParser.parseString(started.orElseThrow().admin().raw(path)).getAsJsonObject();
    }

    private boolean isThere(String path) {
        return Optional.ofNullable(started.orElseThrow().admin().raw(path)).isPresent();
    }

    private DatasetImport wanted(String source) {
        var _ = post(IMPORTS, """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "DatasetImport",
                 "metadata": {"name": "photos", "namespace": "u1"},
                 "spec": {"source": %s, "size": "2Gi", "readers": {"groups": ["vision"]}}}
                """.formatted(source));
        return cluster().imports().getFirst();
    }

    private ImportCluster on() {
        ImportCluster cluster = cluster();
        assertTrue(cluster.isOn());
        return cluster;
    }

    /// The reference to the import, and more metadata.
    private static String owned(DatasetImport by) {
        return "\"ownerReferences\": [{\"apiVersion\": \"siphon.dev/v1alpha1\", \"kind\": \"DatasetImport\","
                + " \"name\": \"photos\", \"uid\": \"" + by.uid() + "\"}]";
    }

    private static String event(String kind, String name, String uid, String message) {
        return """
                {"apiVersion": "v1", "kind": "Event", "metadata": {"generateName": "e-", "namespace": "u1"},
                 "involvedObject": {"kind": "%s", "name": "%s", "uid": "%s", "namespace": "u1"}, "type": "Warning",
                 "reason": "ProvisioningFailed", "message": "%s", "lastTimestamp": "2026-01-01T00:00:00Z"}
                """.formatted(kind, name, uid, message);
    }

    @Test
    void anImportIsReadAsItsOwnerWroteIt() {
        DatasetImport read = wanted(FROM_CLAIM);
        assertEquals(new ImportSource.Claim("raw", "photos/2026"), read.source());
        assertEquals(2L << 30, read.sizeBytes());
        assertEquals(Set.of("vision"), read.groups());
        assertEquals(ImportStatus.NONE, read.status());
    }

    /// The cluster's definition refuses these, too; it may be another version's.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"claim\": {\"name\": \"raw\", \"path\": \"../x\"}}",
                "{\"claim\": {\"name\": \"raw\", \"path\": \"/x\"}}",
                "{\"claim\": {\"name\": \"../secrets\"}}",
                "{\"claim\": {\"name\": \"raw\"}, \"s3\": {\"endpoint\": \"https://s3.test\", \"bucket\": \"data\"}}",
                "{\"https\": {\"url\": \"ftp://example.org/x.tar\", \"checksum\": \"none\"}}",
                "{\"https\": {\"url\": \"https://user:word@example.org/x.tar\", \"checksum\": \"none\"}}",
                "{\"https\": {\"url\": \"https://example.org/x.tar\"}}",
                "{\"https\": {\"url\": \"https://example.org/x.tar\", \"sha256\": \"ab\"}}",
                "{\"s3\": {\"endpoint\": \"https://s3.test\", \"bucket\": \"a b\"}}",
                "{\"s3\": {\"endpoint\": \"https://s3.test\", \"bucket\": \"data\", \"credentials\": \"a/b\"}}"
            })
    void whatIsNoSourceIsNotUsable(String source) {
        assertInstanceOf(ImportSource.Unusable.class, wanted(source).source());
    }

    @Test
    void aStatusIsReadAsItWasWritten() {
        DatasetImport read = wanted(FROM_CLAIM);
        cluster().report(read, READY);
        assertEquals(READY, cluster().imports().getFirst().status());
    }

    @Test
    void theClaimReservesTheRoomForTheImport() {
        DatasetImport read = wanted(FROM_CLAIM);
        ImportCluster cluster = on();
        assertEquals(new Part.Absent(), cluster.claim(read));
        cluster.reserve(read);
        cluster.reserve(read);
        JsonObject claim = get(CLAIMS + "/photos-import");
        assertEquals(
                Optional.of(Long.toString(2L << 30)),
                JsonParts.text(claim, "spec", "resources", "requests", "storage"));
        assertEquals(Optional.of("siphon"), JsonParts.text(claim, "spec", "storageClassName"));
        assertInstanceOf(ClaimState.Waiting.class, cluster.claim(read));
        cluster.removeClaim(read);
        assertEquals(new Part.Absent(), cluster.claim(read));
        cluster.removeClaim(read);
    }

    @Test
    void aFullAllowanceIsRecognized() {
        DatasetImport read = wanted(FROM_CLAIM);
        ImportCluster cluster = on();
        cluster.reserve(read);
        String uid = JsonParts.text(get(CLAIMS + "/photos-import"), "metadata", "uid")
                .orElseThrow();
        var _ = post(
                EVENTS,
                event(
                        "PersistentVolumeClaim",
                        "photos-import",
                        uid,
                        "failed: rpc error: code = ResourceExhausted desc = the allowance of u1 is full"));
        ClaimState.NoRoom full = assertInstanceOf(ClaimState.NoRoom.class, cluster.claim(read));
        assertTrue(full.message().contains(": the allowance of u1 is full;"), full.message());
    }

    @Test
    void theJobRunsAsTheAccountAndSeesWhatItNeeds() {
        DatasetImport read = wanted(FROM_CLAIM);
        ImportCluster cluster = on();
        cluster.beginFetch(read, U1);
        JsonObject job = get(JOBS + "/photos-import");
        assertTrue(ImportObjects.isOwned(job, read));
        JsonObject spec = JsonParts.object(job, "spec", "template", "spec").orElseThrow();
        JsonObject user = JsonParts.object(spec, "securityContext").orElseThrow();
        assertEquals(
                "{\"seccompProfile\":{\"type\":\"RuntimeDefault\"},\"runAsNonRoot\":true,\"runAsUser\":10001,\"runAsGroup\":10501}",
                user.toString());
        JsonObject container = JsonParts.each(spec, "containers").findFirst().orElseThrow();
        assertEquals(
                List.of("--max-files=7", "--into=/target", "--max-bytes=2147483648", "--from=/source/photos/2026"),
                JsonParts.words(container, "args").toList());
        assertEquals(
                Set.of("target photos-import false", "source raw true"),
                JsonParts.each(spec, "volumes")
                        .map(each -> JsonParts.text(each, "name").orElseThrow() + " "
                                + JsonParts.text(each, "persistentVolumeClaim", "claimName")
                                        .orElseThrow() + " "
                                + JsonParts.text(each, "persistentVolumeClaim", "readOnly")
                                        .orElseThrow())
                        .collect(Collectors.toSet()));
        assertEquals(Optional.of("3600"), JsonParts.text(job, "spec", "activeDeadlineSeconds"));
    }

    @Test
    void aSecretIsSeenByItsKnownKeysAlone() {
        DatasetImport read = wanted("{\"https\": {\"url\": \"https://example.org/$(HOME)/x.tar\", \"sha256\": \""
                + "a".repeat(64) + "\", \"credentials\": \"mine\"}}");
        on().beginFetch(read, U1);
        JsonObject spec = JsonParts.object(get(JOBS + "/photos-import"), "spec", "template", "spec")
                .orElseThrow();
        JsonObject secret = JsonParts.each(spec, "volumes")
                .flatMap(each -> JsonParts.object(each, "secret").stream())
                .findFirst()
                .orElseThrow();
        assertEquals(Optional.of("mine"), JsonParts.text(secret, "secretName"));
        assertEquals(
                List.of("token", "username", "password", "access-key", "secret-key", "session-token"),
                JsonParts.each(secret, "items")
                        .flatMap(each -> JsonParts.text(each, "key").stream())
                        .toList());
        List<String> args = JsonParts.words(
                        JsonParts.each(spec, "containers").findFirst().orElseThrow(), "args")
                .toList();
        assertTrue(args.contains("--url=https://example.org/$$(HOME)/x.tar"), args::toString);
        assertTrue(args.contains("--credentials=/credentials"), args::toString);
    }

    @Test
    void whatIsNotTheImportsIsLeftAlone() {
        DatasetImport read = wanted(FROM_CLAIM);
        ImportCluster cluster = on();
        String other = "{\"metadata\": {\"name\": \"%s\", \"namespace\": \"u1\"%s}, \"spec\": {}}";
        String stolen = ", " + owned(read).replace(read.uid(), "another");
        var _ = post(CLAIMS, other.formatted("photos-import", ""));
        var _ = post(JOBS, other.formatted("photos-import", stolen));
        var _ = post(SNAPSHOTS, other.formatted("photos", ""));
        assertEquals(new Part.Foreign(), cluster.claim(read));
        assertEquals(new Part.Leaving(), cluster.fetch(read), "of an earlier import of this name");
        assertEquals(new Part.Foreign(), cluster.seal(read, "u1.photos"));
        cluster.removeClaim(read);
        cluster.removeFetch(read);
        cluster.removeSnapshot(read);
        cluster.reserve(read);
        cluster.beginFetch(read, U1);
        cluster.takeSnapshot(read);
        for (String path : List.of(CLAIMS + "/photos-import", JOBS + "/photos-import", SNAPSHOTS + "/photos")) {
            assertTrue(isThere(path), path);
            assertFalse(ImportObjects.isOwned(get(path), read), path);
        }
    }

    @Test
    void theEndOfAFetcherIsReadAndNotTrusted() {
        DatasetImport read = wanted(FROM_CLAIM);
        ImportCluster cluster = on();
        JsonObject job = post(JOBS, """
                {"metadata": {"name": "photos-import", "namespace": "u1", %s}, "spec": {},
                 "status": {"conditions": [{"type": "Failed", "status": "True", "reason": "PodFailurePolicy"}]}}
                """.formatted(owned(read)));
        String pod = """
                {"metadata": {"name": "p", "labels": {"batch.kubernetes.io/controller-uid": "%1$s"},
                   "ownerReferences": [{"kind": "Job", "uid": "%1$s"}]},
                 "status": {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 2,
                   "reason": "Error", "message": "%2$s"}}}]}}
                """;
        String uid = JsonParts.text(job, "metadata", "uid").orElseThrow();
        var _ = post(
                PODS,
                pod.formatted(
                        uid,
                        "{\\\"outcome\\\": \\\"failed\\\", \\\"reason\\\": \\\"WrongChecksum\\\", \\\"message\\\": \\\"no\\\"}"));
        assertEquals(new FetchState.Failed("WrongChecksum", "no"), cluster.fetch(read));
        started.orElseThrow().admin().raw(PODS + "/p", "DELETE", "{}");
        var _ = post(PODS, pod.formatted(uid, "{\\\"reason\\\": \\\"Ready\\\", \\\"message\\\": 7"));
        FetchState.Failed odd = assertInstanceOf(FetchState.Failed.class, cluster.fetch(read));
        assertEquals("FetchFailed", odd.reason());
        assertTrue(odd.message().contains("exit code 2"), odd.message());
    }

    @Test
    void aSnapshotIsSealedOnceTheDatasetLiesWhereItsHandleLeads() {
        DatasetImport read = wanted(FROM_CLAIM);
        ImportCluster cluster = on();
        cluster.takeSnapshot(read);
        JsonObject snapshot = get(SNAPSHOTS + "/photos");
        assertEquals(
                Optional.of("photos-import"), JsonParts.text(snapshot, "spec", "source", "persistentVolumeClaimName"));
        String uid = JsonParts.text(snapshot, "metadata", "uid").orElseThrow();
        assertInstanceOf(SealState.Packing.class, cluster.seal(read, "u1.photos"));
        patchStatus("{\"error\": {\"message\": \"rpc error: code = ResourceExhausted desc = full\"}}");
        assertEquals(
                "AllowanceFull",
                assertInstanceOf(SealState.Refused.class, cluster.seal(read, "u1.photos"))
                        .reason());
        patchStatus("{\"error\": {\"message\": \"rpc error: code = Aborted desc = retry\"}}");
        assertInstanceOf(SealState.Packing.class, cluster.seal(read, "u1.photos"));
        patchStatus("{\"readyToUse\": true, \"boundVolumeSnapshotContentName\": \"content-1\"}");
        assertInstanceOf(SealState.Packing.class, cluster.seal(read, "u1.photos"), "its handle is not known");
        String handle = "s1:lab:cephfs:ag:vv@i00000000000000000000";
        var _ = post(CONTENTS, """
                {"metadata": {"name": "content-1"}, "spec": {"volumeSnapshotRef": {"uid": "%s"}},
                 "status": {"snapshotHandle": "%s"}}
                """.formatted(uid, handle));
        assertEquals(new SealState.Undeclared(), cluster.seal(read, "u1.photos"));
        var _ = dataset("/datasets/i000000000000000");
        assertEquals(new SealState.Replaced(), cluster.seal(read, "u1.photos"), "another snapshot's");
        started.orElseThrow().admin().raw(DATASETS + "/u1.photos", "DELETE", null);
        var _ = dataset(new DatasetPlace(SnapshotId.parse(handle)).path());
        assertEquals(new SealState.Sealed(), cluster.seal(read, "u1.photos"));
    }

    private void patchStatus(String status) {
        JsonObject snapshot = get(SNAPSHOTS + "/photos");
        snapshot.add("status", JsonParser.parseString(status));
        var _ = started.orElseThrow().admin().raw(SNAPSHOTS + "/photos", "PUT", snapshot.toString());
    }

    @Test
    void theStatusOfAnImportIsNotWrittenToALaterOneOfItsName() {
        ImportCluster cluster = on();
        DatasetImport before = wanted(FROM_CLAIM);
        var _ = started.orElseThrow().admin().raw(IMPORTS + "/photos", "DELETE", null);
        DatasetImport after = wanted(FROM_CLAIM);
        cluster.report(before, READY);
        assertFalse(get(IMPORTS + "/photos").has("status"));
        assertEquals(List.of(after), cluster.imports());
    }

    private JsonObject dataset(String path) {
        return post(DATASETS, """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "Dataset", "metadata": {"name": "u1.photos"},
                 "spec": {"fsName": "cephfs", "path": "%s", "digest": "%s", "bytes": 1, "readers": ["u1", "u9"]}}
                """.formatted(path, "0".repeat(64)));
    }

    @Test
    void sharingLeavesReadersOfAdministrators() {
        var _ = wanted(FROM_CLAIM);
        ImportCluster cluster = on();
        var _ = dataset("/datasets/i000000000000000");
        cluster.share("u1.photos", Set.of(), Set.of("u1", "group:vision"));
        assertEquals(Set.of("u1", "u9", "group:vision"), readers());
        cluster.share("u1.photos", Set.of("u1", "group:vision"), Set.of("u1"));
        assertEquals(Set.of("u1", "u9"), readers());
        // a controller that was killed before it wrote the import's status
        cluster.share("u1.photos", Set.of("u1"), Set.of("u1", "group:vision"));
        cluster.share("u1.photos", Set.of("u1"), Set.of("u1"));
        assertEquals(Set.of("u1", "u9"), readers());
        assertThrows(
                dev.siphon.csi.DriverException.BackendUnavailable.class,
                () -> cluster.share("u1.other", Set.of(), Set.of("u1")));
    }

    private Set<String> readers() {
        return JsonParts.words(get(DATASETS + "/u1.photos"), "spec", "readers").collect(Collectors.toSet());
    }
}

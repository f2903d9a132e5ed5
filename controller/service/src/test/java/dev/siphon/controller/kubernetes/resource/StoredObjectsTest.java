package dev.siphon.controller.kubernetes.resource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.siphon.controller.kubernetes.resource.DatasetReplicaObject.State;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Objects exactly as the code of commit 05f7391 stored them.
final class StoredObjectsTest {
    private static final String DIGEST = "0123456789abcdef".repeat(4);
    private static final String VOLUME =
            "dataset:lab:cephfs:0123456789abcdef0123456789abcdef01234567:/datasets/u1/imagenet-v1";
    private static final String TURN = """
            {"given":true,"before":0,"progressBytes":40,"since":"2026-01-01T00:00:00Z","renewed":"2026-01-01T00:01:00Z"}""";
    private static final String GIVEN = """
            {"request":"17","volume":"%s","sealedKey":"c2VhbGVk","userID":"siphon-dataset.x","context":{\
            "monitors":"10.0.0.1,10.0.0.2","fsName":"cephfs","mountPath":"/datasets/u1/imagenet-v1","mounter":"auto",\
            "readOnly":"true"}}""".formatted(VOLUME);

    private final KubernetesSerialization json = new KubernetesSerialization(new ObjectMapper(), false);

    private <T> T read(Class<T> type, String spec, String status) {
        return json.unmarshal("""
                {"apiVersion":"siphon.dev/v1alpha1","kind":"%s","metadata":{"name":"a","uid":"b","resourceVersion":"7",
                 "managedFields":[{"manager":"fabric8","fieldsV1":{"f:spec":{}}}]},"spec":%s,"status":%s}
                """.formatted(type.getSimpleName().replace("Object", ""), spec, status), type);
    }

    @Test
    void aDatasetCheckIsRead() {
        assertEquals(
                new DatasetCheckObject.Spec(2, "30m", "reject", "release"),
                read(DatasetCheckObject.class, """
                        {"replicas":2,"maxWait":"30m","then":"reject","whileLoading":"release"}""", "null").getSpec());
        assertEquals(
                new DatasetCheckObject.Spec(null, null, null, null),
                read(DatasetCheckObject.class, "{}", "null").getSpec());
    }

    @Test
    void aDatasetIsRead() {
        DatasetObject dataset = read(DatasetObject.class, """
                {"cluster":"lab","fsName":"cephfs","path":"/datasets/u1/imagenet-v1","digest":"%s","bytes":5000000000,\
                "readers":["*","group:vision","u1"]}""".formatted(DIGEST), """
                {"ready":false,"message":"no such directory","pods":3,"nodes":[{"name":"node-1","pods":2,\
                "namespaces":["u1","u2"],"moreNamespaces":4},{"name":"node-2","pods":1,"namespaces":["u1"]}],\
                "moreNodes":0}""");
        assertEquals(
                new DatasetObject.Spec(
                        "lab",
                        "cephfs",
                        "/datasets/u1/imagenet-v1",
                        DIGEST,
                        5_000_000_000L,
                        List.of("*", "group:vision", "u1")),
                dataset.getSpec());
        DatasetObject.Status status = dataset.status();
        assertEquals("false no such directory", status.ready() + " " + status.message());
        assertEquals(
                List.of(
                        new DatasetObject.OnNode("node-1", 2, List.of("u1", "u2"), 4L),
                        new DatasetObject.OnNode("node-2", 1, List.of("u1"), null)),
                status.nodes());
        assertEquals("3 0", status.pods() + " " + status.moreNodes());
        assertNull(status.readBack());
        assertNull(status.readers());
    }

    @Test
    void aDatasetOfWhichNothingIsKnownYetIsRead() {
        DatasetObject dataset = read(DatasetObject.class, """
                {"fsName":"cephfs","path":"/d","digest":"%s","readers":[]}""".formatted(DIGEST), "null");
        assertEquals(new DatasetObject.Spec(null, "cephfs", "/d", DIGEST, 0, List.of()), dataset.getSpec());
        assertNull(dataset.getStatus());
    }

    @Test
    void aQuestionAndItsAnswersAreRead() {
        String asked = """
                {"podUID":"7c0f2f0e-3c0e-4b6e-9d55-9a7f5f3b7a10","node":"node-1","publicKey":"MCowBQYDK2VuAyEA",\
                "dataset":"u1/imagenet-v1","pod":"train-0","request":"17"}""";
        DatasetAccessObject given = read(DatasetAccessObject.class, asked, GIVEN);
        assertEquals(
                new DatasetAccessObject.Spec(
                        "u1/imagenet-v1",
                        "node-1",
                        "train-0",
                        "7c0f2f0e-3c0e-4b6e-9d55-9a7f5f3b7a10",
                        "MCowBQYDK2VuAyEA",
                        "17"),
                given.getSpec());
        assertEquals(answer(), given.getStatus());
        DatasetAccessObject refused = read(
                DatasetAccessObject.class,
                asked,
                "{\"message\":\"u2 is no reader\",\"request\":\"17\",\"code\":\"PERMISSION_DENIED\"}");
        assertEquals(
                new DatasetAccessObject.Status("17", null, null, null, null, "PERMISSION_DENIED", "u2 is no reader"),
                refused.getStatus());
    }

    private static DatasetAccessObject.Status answer() {
        return new DatasetAccessObject.Status(
                "17",
                VOLUME,
                Map.of(
                        "monitors", "10.0.0.1,10.0.0.2",
                        "fsName", "cephfs",
                        "mountPath", "/datasets/u1/imagenet-v1",
                        "mounter", "auto",
                        "readOnly", "true"),
                "siphon-dataset.x",
                "c2VhbGVk",
                null,
                null);
    }

    @Test
    void replicasAreRead() {
        String order = "\"dataset\":\"u1.imagenet-v1\",\"node\":\"node-1\",\"volume\":\"" + VOLUME + "\"";
        DatasetReplicaObject wanted = read(
                DatasetReplicaObject.class,
                "{" + order + ",\"wanted\":true,\"access\":" + GIVEN + ",\"turn\":" + TURN + "}",
                """
                {"state":"Filling","percent":40,"bytes":2000000000,"progressBytes":3000000000,"cacheDirectory":"/var/lib/siphon/cache",\
                "message":"","request":"","publicKey":""}""");
        assertEquals(
                new DatasetReplicaObject.Spec(
                        "u1.imagenet-v1",
                        "node-1",
                        VOLUME,
                        true,
                        answer(),
                        new DatasetReplicaObject.Turn(true, 0, 40L, "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z")),
                wanted.getSpec());
        assertEquals(
                new DatasetReplicaObject.Status(
                        State.FILLING, 40, 2_000_000_000L, 3_000_000_000L, "/var/lib/siphon/cache", "", "", ""),
                wanted.getStatus());
        DatasetReplicaObject unwanted = read(DatasetReplicaObject.class, "{" + order + ",\"wanted\":false}", """
                {"state":"Failed","percent":0,"bytes":0,"cacheDirectory":"","message":"no space","request":"",\
                "publicKey":""}""");
        assertEquals(
                new DatasetReplicaObject.Spec("u1.imagenet-v1", "node-1", VOLUME, false, null, null),
                unwanted.getSpec());
        assertEquals(
                new DatasetReplicaObject.Status(State.FAILED, 0, 0L, null, "", "no space", "", ""),
                unwanted.getStatus());
    }

    @Test
    void aWarmupIsRead() {
        DatasetWarmupObject warmup = read(DatasetWarmupObject.class, """
                {"dataset":"u1/imagenet-v1","nodeSelector":{"gpu":"h100"},"until":"2026-12-01T00:00:00Z"}""", "{\"nodes\":4,\"local\":1,\"message\":\"\"}");
        assertEquals(
                new DatasetWarmupObject.Spec("u1/imagenet-v1", Map.of("gpu", "h100"), "2026-12-01T00:00:00Z"),
                warmup.getSpec());
        assertEquals(new DatasetWarmupObject.Status(4, 1, ""), warmup.getStatus());
    }

    /// Fields of a later version are ignored.
    @Test
    void whatIsNotKnownIsLeftOut() {
        DatasetObject dataset = read(
                DatasetObject.class, "{\"fsName\":\"cephfs\",\"later\":{\"a\":[1]}}", "{\"ready\":true,\"later\":7}");
        assertEquals("cephfs", dataset.spec().fsName());
        assertEquals(true, dataset.status().ready());
    }
}

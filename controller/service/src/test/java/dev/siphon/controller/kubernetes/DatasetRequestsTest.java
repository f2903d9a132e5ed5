package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.StatusMapping;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.EncryptedSecret;
import io.grpc.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A node that asks gets the key of what its own pods name, and nothing else.
@Timeout(60)
final class DatasetRequestsTest {
    private static final String DRIVER = "cephfs.siphon.dev";
    private static final String SECRET = "AQBdF2FlAAAAABAAjAnnpZ9Yw8bGaf7PPUCYAg==";
    private static final VolumeId.DatasetVolume VOLUME = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789abcdef".repeat(3).substring(0, 40), Optional.of("0123456789ab"), "/datasets/x");
    private static final VolumeContext CONTEXT = VolumeContext.fromMap(VOLUME, Map.of("monitors", "10.0.0.1:3300"));

    @TempDir
    private Path folder = Path.of("");

    private final EncryptedSecret.Reader node = new EncryptedSecret.Reader();
    private Optional<TestCluster> started = Optional.empty();
    private Optional<DatasetRequests> requests = Optional.empty();

    @BeforeEach
    void start() {
        TestCluster cluster = TestCluster.inMemory(folder);
        started = Optional.of(cluster);
        KubernetesApi api = new KubernetesApi(cluster.access(), () -> Duration.ofSeconds(20));
        requests = Optional.of(new DatasetRequests(api, DRIVER, new DatasetAccesses(api), (dataset, pod) -> {
            if (!List.of("u1/x", VOLUME.toString()).contains(dataset)) {
                throw new DriverException.NotFound("there is no dataset " + dataset);
            }
            if (!pod.namespace().equals("u1")) {
                throw new DriverException.AccessDenied("namespace " + pod.namespace() + " is no reader");
            }
            return new DatasetVolumes.Opened(VOLUME, CONTEXT, new VolumeKey("siphon-dataset.x." + pod.node(), SECRET));
        }));
        pod("u1", "u1/x", DRIVER);
        pod("u2", "u1/x", DRIVER);
        pod("u3", "u3/x", DRIVER);
        pod("u4", "u1/x", "csi.example.org");
        claim("u1", "data", VOLUME.toString(), DRIVER, "u1");
        claim("u1", "train-scratch", VOLUME.forUse("vvvvvvvvvvvv").toString(), DRIVER, "u1");
        claim("u1", "other", VOLUME.forUse("000000000000").toString(), "csi.example.org", "u1");
        claim("u1", "anothers", VOLUME.forUse("111111111111").toString(), DRIVER, "u2");
    }

    private void pod(String namespace, String dataset, String driver) {
        started.orElseThrow().admin().raw("/api/v1/namespaces", "POST", """
                        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "%s"}}
                        """.formatted(namespace));
        started.orElseThrow().admin().raw("/api/v1/namespaces/" + namespace + "/pods", "POST", """
                        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train", "namespace": "%s", "uid": "uid-1"},
                         "spec": {"nodeName": "node-1", "containers": [], "volumes": [
                           {"name": "tmp", "emptyDir": {}},
                           {"name": "gone", "persistentVolumeClaim": {"claimName": "gone"}},
                           {"name": "o", "persistentVolumeClaim": {"claimName": "other"}},
                           {"name": "a", "persistentVolumeClaim": {"claimName": "anothers"}},
                           {"name": "c", "persistentVolumeClaim": {"claimName": "data"}},
                           {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"metadata": {"name": "x"}}}},
                           {"name": "other", "csi": {"driver": "%s"}},
                           {"name": "data", "csi": {"driver": "%s", "volumeAttributes": {"dataset": "%s"}}}]}}
                        """.formatted(
                        namespace, driver, driver, dataset));
    }

    private void claim(String namespace, String name, String volume, String driver, String of) {
        started.orElseThrow()
                .admin()
                .raw("/api/v1/namespaces/" + namespace + "/persistentvolumeclaims", "POST", """
                        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "%s", "namespace": "%s"},
                         "spec": {"volumeName": "pv-%s"}}
                        """.formatted(
                                name, namespace, name));
        started.orElseThrow().admin().raw("/api/v1/persistentvolumes", "POST", """
                        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv-%s"},
                         "spec": {"claimRef": {"namespace": "%s", "name": "%s"},
                          "csi": {"driver": "%s", "volumeHandle": "%s"}}}
                        """.formatted(
                        name, of, name, driver, volume));
    }

    private DatasetAccess.Answer answerClaimed(String namespace, VolumeId.DatasetVolume volume, String where) {
        String uid = serverUid(namespace);
        DatasetAccess.Asked asked =
                new DatasetAccess.Asked(volume.toString(), where, "train", uid, node.publicKey(), "7");
        return requests.orElseThrow().answer(namespace, DatasetAccess.nameOfClaimed(uid, volume), "7", asked.toSpec());
    }

    @Test
    void aNodeGetsTheKeyOfAPodsClaim() {
        DatasetAccess.Given given = assertInstanceOf(DatasetAccess.Given.class, answerClaimed("u1", VOLUME, "node-1"));
        assertEquals(SECRET, node.decrypt(given.encryptedKey(), given.about()));
    }

    @ParameterizedTest(name = "{0} {1} {2}")
    @CsvSource({
        "u1, 0123456789ab, node-2", // another node's pod
        "u2, 0123456789ab, node-1", // a claim of another namespace
        "u1, 000000000000, node-1", // another driver's volume
        "u1, 111111111111, node-1", // a PersistentVolume that is for another claim
        "u1, 222222222222, node-1" // a volume without a claim
    })
    void aNodeGetsNoKeyOfWhatNoClaimOfItsPodHas(String namespace, String claim, String where) {
        DatasetAccess.Refused refused =
                assertInstanceOf(DatasetAccess.Refused.class, answerClaimed(namespace, VOLUME.forUse(claim), where));
        assertInstanceOf(DriverException.AccessDenied.class, refused.why(), refused.why()::getMessage);
    }

    /// The claim passes the check of the pod; then the volume is unknown.
    @Test
    void aGenericEphemeralVolumesClaimIsThePodsToo() {
        DatasetAccess.Refused refused = assertInstanceOf(
                DatasetAccess.Refused.class, answerClaimed("u1", VOLUME.forUse("vvvvvvvvvvvv"), "node-1"));
        assertInstanceOf(DriverException.NotFound.class, refused.why(), refused.why()::getMessage);
    }

    @Test
    void aQuestionAboutAClaimHasTheNameOfThatClaim() {
        String uid = serverUid("u1");
        DatasetAccess.Asked asked =
                new DatasetAccess.Asked(VOLUME.toString(), "node-1", "train", uid, node.publicKey(), "7");
        assertInstanceOf(
                DatasetAccess.Refused.class,
                requests.orElseThrow().answer("u1", InlinePod.handle(uid, "data"), "7", asked.toSpec()));
    }

    @AfterEach
    void stop() {
        requests.ifPresent(DatasetRequests::close);
        started.ifPresent(TestCluster::close);
    }

    private DatasetAccess.Answer answer(String namespace, String dataset, String where, String pod, String uid) {
        DatasetAccess.Asked asked = new DatasetAccess.Asked(dataset, where, pod, uid, node.publicKey(), "7");
        return requests.orElseThrow().answer(namespace, InlinePod.handle(uid, "data"), "7", asked.toSpec());
    }

    @Test
    void aNodeGetsTheKeySealedForItself() {
        DatasetAccess.Given given =
                assertInstanceOf(DatasetAccess.Given.class, answer("u1", "u1/x", "node-1", "train", serverUid("u1")));
        assertEquals(VOLUME, given.volume());
        assertEquals(CONTEXT, given.context());
        assertEquals("7", given.request());
        assertFalse(given.toStatus().toString().contains(SECRET));
        assertEquals(SECRET, node.decrypt(given.encryptedKey(), given.about()));
    }

    /// Returns the uid that the server in memory assigned.
    private String serverUid(String namespace) {
        return started.orElseThrow()
                .admin()
                .pods()
                .inNamespace(namespace)
                .withName("train")
                .get()
                .getMetadata()
                .getUid();
    }

    @ParameterizedTest(name = "{0} {1} {2} {3}")
    @CsvSource({
        "u1, u1/x, node-2, train, PERMISSION_DENIED", // another node's pod
        "u1, u1/y, node-1, train, PERMISSION_DENIED", // not named by the pod
        "u4, u1/x, node-1, train, PERMISSION_DENIED", // another driver's volume
        "u2, u1/x, node-1, train, PERMISSION_DENIED", // not a reader
        "u3, u3/x, node-1, train, NOT_FOUND", // no such dataset
        "u1, u1/x, node-1, gone, NOT_FOUND",
        "u1, u1/x, node-1, ../../secrets/key, INVALID_ARGUMENT"
    })
    void othersGetNone(String namespace, String dataset, String where, String pod, Status.Code code) {
        DatasetAccess.Refused refused = assertInstanceOf(
                DatasetAccess.Refused.class, answer(namespace, dataset, where, pod, serverUid(namespace)));
        assertEquals(code, StatusMapping.toStatus(refused.why()).getCode(), refused.why()::getMessage);
    }

    /// Also refused: a pod with an annotation that is too long to read.
    @ParameterizedTest
    @CsvSource({"4, AccessDenied", "200000, InUse"})
    void aPodThatANodeMadeItselfGetsNone(int length, String why) {
        started.orElseThrow().admin().raw("/api/v1/namespaces/u1/pods", "POST", """
                        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "mirror", "namespace": "u1",
                          "annotations": {"kubernetes.io/config.mirror": "%s"}},
                         "spec": {"nodeName": "node-1", "containers": [], "volumes": [
                           {"name": "data", "csi": {"driver": "%s", "volumeAttributes": {"dataset": "u1/x"}}}]}}
                        """.formatted(
                        "h".repeat(length), DRIVER));
        String uid = started.orElseThrow()
                .admin()
                .pods()
                .inNamespace("u1")
                .withName("mirror")
                .get()
                .getMetadata()
                .getUid();
        DatasetAccess.Refused refused =
                assertInstanceOf(DatasetAccess.Refused.class, answer("u1", "u1/x", "node-1", "mirror", uid));
        assertEquals(why, refused.why().getClass().getSimpleName(), refused.why()::getMessage);
    }

    @Test
    void aQuestionIsAboutAVolumeOfThePod() {
        DatasetAccess.Asked asked =
                new DatasetAccess.Asked("u1/x", "node-1", "train", serverUid("u1"), node.publicKey(), "7");
        String other = InlinePod.handle(serverUid("u1"), "tmp");
        assertInstanceOf(DatasetAccess.Refused.class, requests.orElseThrow().answer("u1", other, "7", asked.toSpec()));
    }

    @Test
    void aPodOfTheSameNameThatCameLaterIsAnother() {
        DatasetAccess.Refused refused =
                assertInstanceOf(DatasetAccess.Refused.class, answer("u1", "u1/x", "node-1", "train", "another"));
        assertInstanceOf(DriverException.NotFound.class, refused.why());
    }
}

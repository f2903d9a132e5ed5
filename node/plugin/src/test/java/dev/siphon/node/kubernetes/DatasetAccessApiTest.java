package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.StatusMapping;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.EncryptedSecret;
import dev.siphon.node.inline.InlineDatasets;
import dev.siphon.node.pod.Pod;
import io.grpc.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// How a node handles the controller's replies. `e2e/kubernetes` tests both sides together on a real Kubernetes.
@Timeout(60)
final class DatasetAccessApiTest {
    private static final String NAME = "csi-" + "0123456789abcdef".repeat(4);
    private static final String SECRET = "AQBdF2FlAAAAABAAjAnnpZ9Yw8bGaf7PPUCYAg==";
    private static final Pod POD = new Pod("u1", "train", "uid-1");
    private static final VolumeId.DatasetVolume VOLUME = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789abcdef".repeat(3).substring(0, 40), Optional.of("0123456789ab"), "/datasets/x");
    private static final VolumeContext CONTEXT = VolumeContext.fromMap(VOLUME, Map.of("monitors", "10.0.0.1:3300"));

    @TempDir
    private Path folder = Path.of("");

    private final FakeApi server = FakeApi.start();

    @AfterEach
    void stop() {
        server.close();
    }

    private InlineDatasets.Opened open(Duration limit) {
        DatasetAccessApi api = new DatasetAccessApi(
                new ApiAccess.Kubeconfig(server.kubeconfig(folder)), new NodeId("node-1", Optional.of("10.0.0.7")));
        return Replies.opened(api.ask(NAME, POD, "u1/x", limit));
    }

    private InlineDatasets.Opened open() {
        return open(Duration.ofSeconds(20));
    }

    private static JsonObject given(JsonObject spec, VolumeId.DatasetVolume sealedFor) {
        DatasetAccess.Asked asked = DatasetAccess.Asked.ofSpec(spec);
        String sealed = EncryptedSecret.encrypt(
                asked.publicKey(), SECRET, DatasetAccess.Given.about(asked.request(), sealedFor, "siphon-dataset.x"));
        return new DatasetAccess.Given(asked.request(), VOLUME, CONTEXT, "siphon-dataset.x", sealed).toStatus();
    }

    @Test
    void itGetsWhatThePodNames() {
        server.control(spec -> given(spec, VOLUME));
        InlineDatasets.Opened opened = open();
        assertEquals(VOLUME, opened.volume());
        assertEquals(CONTEXT, opened.context());
        assertEquals("siphon-dataset.x", opened.credentials().userId());
        assertEquals(SECRET, opened.credentials().key().reveal());
        DatasetAccess.Asked asked = DatasetAccess.Asked.ofSpec(server.access().getAsJsonObject("spec"));
        assertEquals(
                new DatasetAccess.Asked("u1/x", "node-1", "train", "uid-1", asked.publicKey(), asked.request()), asked);
        JsonObject metadata = server.access().getAsJsonObject("metadata");
        assertEquals(
                "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"train\",\"uid\":\"uid-1\"}",
                metadata.getAsJsonArray("ownerReferences").get(0).toString());
        assertEquals("u1", metadata.get("namespace").getAsString());
        assertEquals(NAME, metadata.get("name").getAsString());
    }

    @Test
    void anAnswerToAnEarlierQuestionIsNone() {
        AtomicInteger reads = new AtomicInteger();
        server.control(spec -> {
            JsonObject status = given(spec, VOLUME);
            if (reads.incrementAndGet() < 3) {
                status.addProperty("request", "an earlier one");
            }
            return status;
        });
        assertEquals(VOLUME, open().volume());
        assertEquals(3, reads.get());
    }

    @Test
    void aRefusalIsTheControllers() {
        server.control(spec -> new DatasetAccess.Refused(
                        DatasetAccess.Asked.ofSpec(spec).request(), new DriverException.AccessDenied("u1 is no reader"))
                .toStatus());
        DriverException refused = assertThrows(DriverException.AccessDenied.class, this::open);
        assertTrue(refused.getMessage().contains("u1 is no reader"), refused::getMessage);
    }

    @Test
    void aKeyThatWasSealedForAnotherVolumeIsNotTaken() {
        server.control(spec -> given(
                spec, new VolumeId.DatasetVolume("lab", "cephfs", VOLUME.digest(), VOLUME.claim(), "/datasets/other")));
        DriverException refused = assertThrows(DriverException.BackendFault.class, this::open);
        assertFalse(refused.getMessage().contains(SECRET), refused::getMessage);
    }

    @Test
    void aControllerThatIsSilentIsNotWaitedForForEver() {
        DriverException silent =
                assertThrows(DriverException.BackendUnavailable.class, () -> open(Duration.ofMillis(300)));
        assertTrue(silent.getMessage().contains("siphon-controller"), silent::getMessage);
    }

    @ParameterizedTest(name = "HTTP {0}")
    @CsvSource({
        "403, FAILED_PRECONDITION, chart",
        "422, FAILED_PRECONDITION, own node",
        "404, FAILED_PRECONDITION, datasetaccesses",
        "500, UNAVAILABLE, HTTP 500",
        "200, INTERNAL, DatasetAccess"
    })
    void aServerThatDoesNotTakeTheQuestionSaysWhy(int status, Status.Code code, String word) {
        server.answer(Optional.of(new FakeApi.Answer(
                status, status == 200 ? "[]" : "{\"kind\":\"Status\",\"message\":\"asked by its own node\"}")));
        DriverException refused = assertInstanceOf(DriverException.class, assertThrows(Exception.class, this::open));
        assertEquals(code, StatusMapping.toStatus(refused).getCode());
        assertTrue(refused.getMessage().contains(word), refused::getMessage);
    }
}

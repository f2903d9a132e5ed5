package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import com.google.gson.JsonObject;
import dev.siphon.csi.NodeId;
import dev.siphon.node.device.DeviceClaims.Answer;
import dev.siphon.node.pod.Pod;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FakeApiClaimsTest extends DeviceClaimsContract {
    private static final Pod POD = new Pod(FakeApi.NAMESPACE, "train", "1-2-3");
    private static final String CLAIMS = "/apis/resource.k8s.io/v1/namespaces/siphon/resourceclaims";
    private static final String SLICES = "/apis/resource.k8s.io/v1/resourceslices";
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Answer NOTHING = new Answer.Held(List.of());

    private final FakeApi api = FakeApi.start();
    private final PrometheusRegistry metrics = new PrometheusRegistry();

    @TempDir
    private Path folder;

    @AfterEach
    void stop() {
        api.close();
    }

    @Override
    ApiAccess access() {
        return new ApiAccess.Kubeconfig(api.kubeconfig(folder));
    }

    @Override
    Pod pod(String name) {
        return new Pod(FakeApi.NAMESPACE, name, "uid-of-" + name);
    }

    @Override
    void slice(JsonObject slice) {
        api.add(SLICES, slice);
    }

    @Override
    void claim(JsonObject claim) {
        api.add(CLAIMS, claim);
    }

    private ResourceClaimsApi claims() {
        return new ResourceClaimsApi(access(), new NodeId("node-1", Optional.empty()), metrics);
    }

    private String counted() {
        return metrics.scrape().stream()
                .flatMap(snapshot -> snapshot.getDataPoints().stream())
                .map(point -> point.getLabels().get("result") + " "
                        + (long) ((CounterSnapshot.CounterDataPointSnapshot) point).getValue())
                .sorted()
                .toList()
                .toString();
    }

    @ParameterizedTest(name = "HTTP {0}")
    @CsvSource({"403", "404"})
    void whoMayNotAskOrHasNobodyToAskAsksOnceAMinute(int status) {
        api.answer(Optional.of(new FakeApi.Answer(status, "{}")));
        ResourceClaimsApi claims = claims();
        assertInstanceOf(Answer.Refused.class, claims.of(POD, LIMIT));
        assertInstanceOf(Answer.Refused.class, claims.of(POD, LIMIT));
        assertEquals(1, api.authorizations().size());
        assertEquals("[unknown 2]", counted());
    }

    @ParameterizedTest(name = "HTTP {0}: {1}")
    @CsvSource({"500, {}", "429, {}", "200, no JSON", "200, []"})
    void whatIsNoAnswerIsNotKnown(int status, String body) {
        api.answer(Optional.of(new FakeApi.Answer(status, body)));
        ResourceClaimsApi claims = claims();
        assertInstanceOf(Answer.Unknown.class, claims.of(POD, LIMIT));
        assertInstanceOf(Answer.Unknown.class, claims.of(POD, LIMIT));
        assertEquals(1, api.authorizations().size(), "left alone for a while");
        assertEquals("[unknown 2]", counted());
    }

    @Test
    void oneThatIsSilentCostsTheTimeThatThereIs() {
        api.answer(Optional.of(new FakeApi.Answer(0, "")));
        long begun = System.nanoTime();
        Answer answer = claims().of(POD, Duration.ofMillis(300));
        assertInstanceOf(Answer.Unknown.class, answer);
        assertEquals(
                0,
                Duration.ofNanos(System.nanoTime() - begun).toSeconds() / 5,
                "some time, but no request's own limit");
    }

    @Test
    void withoutTimeNobodyIsAsked() {
        ResourceClaimsApi claims = claims();
        assertInstanceOf(Answer.Unknown.class, claims.of(POD, Duration.ZERO));
        assertEquals(List.of(), api.authorizations());
        assertEquals(NOTHING, claims.of(POD, LIMIT), "which is no fault of the API server's");
    }

    @Test
    void claimsAreReadOnlyWhereThereAreDevicesAndThoseOnceForAll() {
        ResourceClaimsApi claims = claims();
        assertEquals(NOTHING, claims.of(POD, LIMIT));
        slice(json("""
                {"spec": {"driver": "gpu.example.com", "nodeName": "node-1", "pool": {"name": "node-1"},
                          "devices": [{"name": "gpu-0"}]}}"""));
        claim(json("""
                {"status": {"reservedFor": [{"resource": "pods", "name": "train", "uid": "1-2-3"}],
                            "allocation": {"devices": {"results": [
                              {"driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0"}]}}}}"""));
        Answer held = claims.of(POD, LIMIT);
        assertEquals(held, claims.of(POD, LIMIT));
        String slices = SLICES + " spec.nodeName=node-1";
        assertEquals(List.of(slices, slices, CLAIMS + " ", CLAIMS + " "), api.listed());
        assertEquals("[held 2, none 1]", counted());
    }
}

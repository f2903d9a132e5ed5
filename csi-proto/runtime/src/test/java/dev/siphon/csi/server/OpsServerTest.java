package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class OpsServerTest {
    private static final OpsAddress ANY = new OpsAddress("127.0.0.1", 0);
    private static final Duration PERIOD = Duration.ofMillis(20);
    private static final Duration DEADLINE = Duration.ofMillis(100);

    private final CountDownLatch hung = new CountDownLatch(1);
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final HttpClient http = HttpClient.newHttpClient();
    private volatile Readiness.Check check = Optional::empty;
    private Readiness readiness = Readiness.start(() -> check.problem(), PERIOD, DEADLINE);
    private OpsServer server = OpsServer.start(ANY, readiness, registry);

    @BeforeEach
    void awaitReady() {
        Eventually.is(() -> readiness.state().ready());
    }

    @AfterEach
    void stop() {
        hung.countDown();
        server.close();
        readiness.close();
        http.close();
    }

    @Test
    void healthyAndReadyWhileTheBackendAnswers() throws Exception {
        assertEquals(200, get("/healthz").statusCode());
        assertEquals(200, get("/readyz").statusCode());
    }

    @Test
    void aHungBackendMakesItNotReadyAndLeavesItHealthy() throws Exception {
        check = () -> {
            Eventually.open(hung);
            return Optional.empty();
        };
        Eventually.is(() -> !readiness.state().ready());
        HttpResponse<String> ready = get("/readyz");
        assertEquals(503, ready.statusCode());
        assertTrue(ready.body().contains("the check has not answered"), ready.body());
        assertEquals(200, get("/healthz").statusCode());
    }

    @Test
    void theReasonIsTold() throws Exception {
        check = () -> Optional.of("no monitor of cluster lab answers");
        Eventually.is(() -> !readiness.state().ready());
        assertTrue(get("/readyz").body().contains("no monitor of cluster lab answers"));
    }

    @Test
    void metricsAreOfThisProcess() throws Exception {
        ProcessMetrics.register(registry, new BuildInfo("1.2.3", "abc"), readiness);
        HttpResponse<String> response = get("/metrics");
        assertEquals(200, response.statusCode());
        assertTrue(response.headers().firstValue("Content-Type").orElse("").startsWith("text/plain; version=0.0.4"));
        assertTrue(value(response.body(), "process_resident_memory_bytes") > 10_000_000);
        assertTrue(value(response.body(), "process_uptime_seconds") > 0);
        assertTrue(value(response.body(), "process_threads") > 1);
        assertTrue(value(response.body(), "jvm_heap_used_bytes") > 0);
        assertEquals(1, value(response.body(), "siphon_ready"));
        assertTrue(response.body().contains("siphon_build_info{revision=\"abc\",version=\"1.2.3\"} 1"));
    }

    @Test
    void nothingElseIsServed() throws Exception {
        assertEquals(404, get("/").statusCode());
        assertEquals(404, get("/healthzx").statusCode());
        assertEquals(404, get("/readyz/x").statusCode());
        HttpRequest post = HttpRequest.newBuilder(uri("/readyz"))
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        assertEquals(405, http.send(post, HttpResponse.BodyHandlers.ofString()).statusCode());
    }

    @Test
    void anAddressInUseIsAStartFailure() {
        OpsAddress taken = new OpsAddress("127.0.0.1", server.address().getPort());
        StartFailure failure =
                assertThrows(StartFailure.class, () -> OpsServer.start(taken, readiness, new PrometheusRegistry()));
        assertTrue(String.valueOf(failure.getMessage()).startsWith("cannot serve HTTP on " + taken));
    }

    @Test
    void aHostWithoutAddressIsAStartFailure() {
        OpsAddress nowhere = new OpsAddress("no-such-host.invalid", 0);
        assertThrows(StartFailure.class, () -> OpsServer.start(nowhere, readiness, new PrometheusRegistry()));
    }

    private static double value(String metrics, String name) {
        Matcher matcher =
                Pattern.compile("^" + name + " (\\S+)$", Pattern.MULTILINE).matcher(metrics);
        assertTrue(matcher.find(), () -> "no " + name + " in " + metrics);
        return Double.parseDouble(matcher.group(1));
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(uri(path)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + server.address().getPort() + path);
    }
}

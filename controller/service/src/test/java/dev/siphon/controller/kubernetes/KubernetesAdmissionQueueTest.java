package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.siphon.controller.warm.CheckAnswer;
import dev.siphon.controller.warm.QueuedWorkload;
import dev.siphon.controller.warm.QueuedWorkload.CheckState;
import dev.siphon.controller.warm.QueuedWorkload.Phase;
import dev.siphon.controller.warm.QueuedWorkload.State;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What is written of Kueue's Workloads.
@Timeout(60)
final class KubernetesAdmissionQueueTest {
    private static final String LONG = "a".repeat(200);

    private final HttpServer server = started();

    /// The field manager that each check's state belongs to, as the API server knows it.
    private final Map<String, String> owners = new HashMap<>();

    private int longest;

    private static HttpServer started() {
        try {
            return HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @BeforeEach
    void start() {
        server.createContext("/", this::apply);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    /// Takes away what the manager applied before and does not apply now, and refuses a check without its state.
    private void apply(HttpExchange exchange) throws IOException {
        try (exchange) {
            String manager =
                    ApiPaths.query(exchange.getRequestURI().getRawQuery()).getOrDefault("fieldManager", "");
            JsonObject body = JsonParser.parseString(
                            new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8))
                    .getAsJsonObject();
            String check = JsonParts.each(body, "status", "admissionChecks")
                    .map(each -> JsonParts.text(each, "name").orElseThrow())
                    .findFirst()
                    .orElseThrow();
            longest = Math.max(longest, manager.length());
            boolean isRefused = owners.entrySet().stream()
                    .anyMatch(each ->
                            each.getValue().equals(manager) && !each.getKey().equals(check));
            owners.put(check, manager);
            byte[] answer = (isRefused ? "{\"kind\":\"Status\",\"code\":422}" : body.toString())
                    .getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(isRefused ? 422 : 200, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    @Test
    void noAnswerTakesAnotherChecksAway(@TempDir Path folder) {
        JsonObject cluster = new JsonObject();
        cluster.addProperty("server", "http://127.0.0.1:" + server.getAddress().getPort());
        Path file = TestCluster.kubeconfig(folder.resolve("kubeconfig"), cluster, "any");
        // by a controller before this one, whose checks had one manager
        owners.put("fast", "siphon-admission-check");
        List<String> checks = List.of("fast", "slow", LONG + "1", LONG + "2", "fast", "slow", LONG + "1");
        CheckState pending = new CheckState(State.PENDING, "", "");
        QueuedWorkload workload = new QueuedWorkload(
                "u1",
                "w",
                "7",
                "8",
                Phase.RESERVED,
                Instant.EPOCH,
                Optional.empty(),
                Optional.empty(),
                true,
                Map.of("fast", pending, "slow", pending, LONG + "1", pending, LONG + "2", pending),
                Set.of(),
                List.of());
        try (KubernetesApi api =
                new KubernetesApi(new KubernetesAccess("siphon", Optional.of(file)), () -> TestCluster.PATIENT)) {
            KubernetesAdmissionQueue queue = new KubernetesAdmissionQueue(api, new PodParser("cephfs.siphon.dev"));
            checks.forEach(check -> queue.answer(workload, check, new CheckAnswer.Given(State.READY, "there")));
        }

        assertEquals("siphon-admission-check-fast", owners.get("fast"));
        assertEquals(4, Set.copyOf(owners.values()).size());
        assertTrue(longest <= 128, () -> "a field manager of " + longest);
    }
}

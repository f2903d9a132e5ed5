package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.siphon.csi.DriverException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// An API with two users: `scraper` may read metrics, `other` may not.
final class MetricsReadersTest {
    @TempDir
    private Path account;

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final List<JsonObject> questions = new CopyOnWriteArrayList<>();
    private final AtomicLong now = new AtomicLong();
    private final AtomicInteger atOnce = new AtomicInteger();
    private final AtomicInteger mostAtOnce = new AtomicInteger();
    private final ExecutorService requests = Executors.newVirtualThreadPerTaskExecutor();
    private volatile CountDownLatch open = new CountDownLatch(0);
    private volatile int status = 201;
    private HttpServer api;
    private MetricsReaders readers;

    @BeforeEach
    void start() throws IOException {
        Files.writeString(account.resolve("token"), "the-node");
        api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        api.createContext("/", this::answer);
        api.setExecutor(requests);
        api.start();
        readers = new MetricsReaders(
                new ApiAccess.Kubeconfig(Files.writeString(account.resolve("kubeconfig"), """
                        apiVersion: v1
                        kind: Config
                        clusters: [{name: lab, cluster: {server: "%s"}}]
                        users: [{name: node, user: {token: the-node}}]
                        contexts: [{name: lab, context: {cluster: lab, user: node}}]
                        current-context: lab
                        """.formatted(URI.create(
                        "http://127.0.0.1:" + api.getAddress().getPort())))),
                now::get);
    }

    @AfterEach
    void stop() {
        open.countDown();
        readers.close();
        api.stop(0);
        requests.shutdownNow();
    }

    private void answer(HttpExchange exchange) throws IOException {
        mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
        try (exchange) {
            open.await();
            String path = exchange.getRequestURI().getPath();
            asked.add(path);
            JsonObject object = JsonParser.parseString(
                            new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8))
                    .getAsJsonObject();
            JsonObject spec = object.getAsJsonObject("spec");
            if (path.endsWith("/tokenreviews")) {
                object.add("status", reviewed(spec.get("token").getAsString()));
            } else {
                questions.add(spec);
                JsonObject answer = new JsonObject();
                answer.addProperty("allowed", spec.get("user").getAsString().equals("scraper"));
                object.add("status", answer);
            }
            byte[] body = object.toString().getBytes(StandardCharsets.UTF_8);
            // before the reply, which admits the next request
            atOnce.decrementAndGet();
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private static JsonObject reviewed(String token) {
        boolean known = token.equals("scraper") || token.equals("other");
        JsonObject user = new JsonObject();
        if (known) {
            user.addProperty("username", token);
            user.add("groups", JsonParser.parseString("[\"system:authenticated\"]"));
        }
        JsonObject review = new JsonObject();
        review.addProperty("authenticated", known);
        review.add("user", user);
        return review;
    }

    @Test
    void theClusterSaysWhoseATokenIsAndWhetherThatOneMayRead() {
        assertTrue(readers.admits("scraper"));
        assertEquals(JsonParser.parseString("""
                        {"nonResourceAttributes": {"path": "/metrics", "verb": "get"},
                         "user": "scraper", "groups": ["system:authenticated"]}
                        """), questions.getFirst());
        assertFalse(readers.admits("other"), "it may not");
        assertFalse(readers.admits("stranger"), "nobody knows it");
        assertEquals(2, questions.size(), "of a stranger nothing more is asked");
    }

    @Test
    void whoMayReadIsRememberedForAMinuteAndNobodyElse() {
        assertTrue(readers.admits("scraper"));
        for (int i = 0; i < 100; i++) {
            assertFalse(readers.admits("made up " + i));
        }
        asked.clear();
        assertTrue(readers.admits("scraper"));
        assertEquals(List.of(), asked);
        now.addAndGet(Duration.ofSeconds(61).toNanos());
        assertTrue(readers.admits("scraper"));
        assertEquals(2, asked.size(), "asked anew");
    }

    @Test
    void oneIsReviewedAtATime() throws Exception {
        open = new CountDownLatch(1);
        List<Future<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            String token = i % 2 == 0 ? "scraper" : "made up " + i;
            all.add(requests.submit(() -> readers.admits(token)));
        }
        open.countDown();
        for (int i = 0; i < all.size(); i++) {
            assertEquals(i % 2 == 0, all.get(i).get());
        }
        assertEquals(1, mostAtOnce.get());
        assertEquals(1, questions.size(), "25 with the same token ask once");
    }

    @Test
    void anApiThatRefusesOrIsSilentAdmitsNobody() {
        status = 403;
        String said =
                String.valueOf(assertThrows(DriverException.BackendUnavailable.class, () -> readers.admits("scraper"))
                        .getMessage());
        assertTrue(said.contains("did not create a TokenReview: HTTP 403"), said);
        assertFalse(said.contains("scraper"), "the token is not told");
        status = 201;
        open = new CountDownLatch(1);
        long begun = System.nanoTime();
        assertThrows(DriverException.BackendUnavailable.class, () -> readers.admits("scraper"));
        assertTrue(Duration.ofNanos(System.nanoTime() - begun).toSeconds() < 10);
        open.countDown();
        assertTrue(readers.admits("scraper"), "and then it answers again");
    }
}

package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetReplica.Order;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.DatasetReplica.State;
import dev.siphon.node.warm.ReplicaOrders;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// How a node learns its orders, from lists and watches as a real API server sends them, including rare replies.
/// `make kubernetes` tests against a real one.
@Timeout(60)
final class DatasetReplicaApiTest {
    private static final VolumeId.DatasetVolume VOLUME = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789abcdef".repeat(3).substring(0, 40), Optional.empty(), "/datasets/x");
    private static final String END = "end";

    @TempDir
    private Path folder = Path.of("");

    private final ExecutorService requests = Executors.newVirtualThreadPerTaskExecutor();
    private final LinkedBlockingQueue<String> lists = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<String> heard = new LinkedBlockingQueue<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private volatile int status = 200;
    private final BackgroundTasks tasks = new BackgroundTasks();
    private Optional<HttpServer> server = Optional.empty();
    private Optional<ReplicaOrders.Following> following = Optional.empty();

    @BeforeEach
    void start() throws IOException {
        HttpServer started = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        started.setExecutor(requests);
        started.createContext("/", this::answer);
        started.start();
        server = Optional.of(started);
    }

    @AfterEach
    void stop() {
        following.ifPresent(ReplicaOrders.Following::close);
        events.add(END);
        server.ifPresent(each -> each.stop(0));
        requests.shutdownNow();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String query = String.valueOf(exchange.getRequestURI().getRawQuery());
            asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " "
                    + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            if (query.contains("watch=true")) {
                exchange.sendResponseHeaders(status, 0);
                try (OutputStream body = exchange.getResponseBody()) {
                    String next = take(events);
                    while (!next.equals(END)) {
                        body.write((next + "\n").getBytes(StandardCharsets.UTF_8));
                        body.flush();
                        next = take(events);
                    }
                }
                return;
            }
            byte[] body = (exchange.getRequestMethod().equals("GET") && status == 200 ? take(lists) : "{}")
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
            }
        }
    }

    private static String take(LinkedBlockingQueue<String> queue) {
        try {
            return Optional.ofNullable(queue.poll(30, TimeUnit.SECONDS)).orElse(END);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return END;
        }
    }

    private DatasetReplicaApi api() {
        try {
            Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), """
                    apiVersion: v1
                    kind: Config
                    clusters: [{name: lab, cluster: {server: "http://127.0.0.1:%d"}}]
                    users: [{name: node, user: {token: s3cret}}]
                    contexts: [{name: lab, context: {cluster: lab, user: node}}]
                    current-context: lab
                    """.formatted(
                            server.orElseThrow().getAddress().getPort()));
            return new DatasetReplicaApi(
                    new ApiAccess.Kubeconfig(kubeconfig), new NodeId("node-1", Optional.of("10.0.0.7")), tasks);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void follow() {
        following = Optional.of(api().follow(new ReplicaOrders.Follower() {
            @Override
            public void all(Map<String, Order> orders) {
                heard.add("all " + orders.keySet());
            }

            @Override
            public void changed(String name, Order order) {
                heard.add("changed " + name + " " + order.wanted());
            }

            @Override
            public void gone(String name) {
                heard.add("gone " + name);
            }
        }));
    }

    private static String object(String name, String node, boolean wanted) {
        return "{\"metadata\": {\"name\": \"%s\"}, \"spec\": %s}"
                .formatted(name, new Order("u1.x", node, VOLUME, wanted, Optional.empty()).toSpec());
    }

    private static String list(String... objects) {
        return "{\"metadata\": {\"resourceVersion\": \"7\"}, \"items\": [" + String.join(",", objects) + "]}";
    }

    private static String event(String type, String object) {
        return "{\"type\": \"%s\", \"object\": %s}".formatted(type, object);
    }

    private String next() {
        return take(heard);
    }

    @Test
    void whatIsThereIsListedAndWhatChangesIsWatched() {
        lists.add(list(object("a", "node-1", true), object("b", "node-2", true), "{\"metadata\": {\"name\": \"c\"}}"));
        follow();
        assertEquals("all [a]", next());
        events.add(event("MODIFIED", object("a", "node-1", false)));
        assertEquals("changed a false", next());
        events.add(event("ADDED", object("d", "node-2", true)));
        events.add(event("BOOKMARK", object("d", "node-1", true)));
        events.add(event("ADDED", "{\"metadata\": {\"name\": \"e\"}, \"spec\": {\"node\": \"node-1\"}}"));
        events.add(event("DELETED", object("a", "node-1", false)));
        assertEquals("gone a", next(), "another node's, a bookmark and what is no order are nothing");
        assertTrue(asked.get(0).contains("fieldSelector=spec.node%3Dnode-1"), asked::toString);
        assertTrue(asked.get(1).contains("resourceVersion=7"), asked::toString);
    }

    @Test
    void whenAWatchEndsAllIsListedAnew() {
        lists.add(list());
        follow();
        assertEquals("all []", next());
        events.add(END);
        lists.add(list(object("a", "node-1", true)));
        assertEquals("all [a]", next());
        events.add(event("ERROR", "{\"kind\": \"Status\", \"code\": 410}"));
        lists.add(list(object("b", "node-1", true)));
        assertEquals("all [b]", next());
        events.add("no event at all");
        lists.add(list());
        assertEquals("all []", next());
    }

    @Test
    void aServerThatRefusesIsAskedAgain() {
        status = 403;
        follow();
        while (asked.isEmpty()) {
            Thread.onSpinWait();
        }
        status = 200;
        lists.add(list(object("a", "node-1", true)));
        assertEquals("all [a]", next());
    }

    @Test
    void aMalformedAnswerIsAFailureWithAReasonAndAllIsListedAgain() {
        lists.add("{\"metadata\": {\"resourceVersion\": \"7\"}}");
        lists.add("{\"items\": []}");
        lists.add(list("7", object("a", "node-1", true), "{\"metadata\": 7, \"spec\": 7}"));
        follow();
        assertEquals("all [a]", next(), "after a list without items, and one without metadata");
        events.add("{\"object\": {}}");
        lists.add(list());
        assertEquals("all []", next(), "after an event without a type");
        assertEquals(Map.of(), tasks.failures(), "none is a bug of the node");
    }

    @Test
    void aReportIsAPatchOfTheStatus() {
        api().report("a", Report.of(State.ABSENT));
        String request = asked.getFirst();
        assertTrue(request.startsWith("PATCH /apis/siphon.dev/v1alpha1/datasetreplicas/a/status"), request);
        assertEquals(
                Report.of(State.ABSENT).toStatus(),
                JsonParser.parseString(request.substring(request.indexOf('{')))
                        .getAsJsonObject()
                        .get("status"));
        status = 404;
        api().report("a", Report.of(State.ABSENT)); // the object was deleted
        status = 422;
        assertThrows(DriverException.BackendUnavailable.class, () -> api().report("a", Report.of(State.ABSENT)));
    }
}

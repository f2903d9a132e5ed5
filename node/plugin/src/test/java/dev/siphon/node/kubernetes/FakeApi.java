package dev.siphon.node.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;

/// The part of a Kubernetes API that a node reads, with failures that a real one shows only rarely.
public final class FakeApi implements AutoCloseable {
    public static final String NAMESPACE = "siphon";
    static final String EVENTS = "/api/v1/namespaces/[a-z0-9]+/events";
    static final String ACCESSES = "/apis/siphon.dev/v1alpha1/namespaces/[a-z0-9]+/datasetaccesses/[a-z0-9-]+";
    static final String PATH = "/api/v1/namespaces/siphon/configmaps/siphon-grants";

    private final HttpServer server;
    private final ExecutorService requests = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<String> authorizations = new CopyOnWriteArrayList<>();
    private final List<JsonObject> events = new CopyOnWriteArrayList<>();
    private volatile Optional<String> grants = Optional.empty();
    private volatile Optional<Answer> instead = Optional.empty();
    private volatile UnaryOperator<JsonObject> controller = _ -> new JsonObject();
    private final Map<String, JsonObject> accesses = new ConcurrentHashMap<>();
    private volatile JsonObject lastAccess = new JsonObject();
    private final Map<String, List<JsonObject>> collections = new ConcurrentHashMap<>();
    private final List<String> listed = new CopyOnWriteArrayList<>();

    /// A reply that replaces the ConfigMap.
    ///
    /// @param status 0 to send no reply
    record Answer(int status, String body) {}

    private FakeApi(HttpServer server) {
        this.server = server;
        server.createContext("/", this::answer);
        server.setExecutor(requests);
        server.start();
    }

    public static FakeApi start() {
        try {
            return new FakeApi(HttpServer.create(address(), 0));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static FakeApi startTls(SSLContext context) {
        try {
            HttpsServer server = HttpsServer.create(address(), 0);
            server.setHttpsConfigurator(new HttpsConfigurator(context));
            return new FakeApi(server);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    /// Puts `text` into the ConfigMap.
    public void publish(String text) {
        grants = Optional.of(text);
    }

    /// Deletes the ConfigMap.
    void remove() {
        grants = Optional.empty();
    }

    /// Sends this reply from now on; empty for the normal one.
    void answer(Optional<Answer> so) {
        instead = so;
    }

    /// Computes the status of each DatasetAccess from its spec on every read.
    void control(UnaryOperator<JsonObject> so) {
        controller = so;
    }

    /// Returns the last applied DatasetAccess.
    JsonObject access() {
        return lastAccess;
    }

    /// Adds an object to the collection at `path`.
    void add(String path, JsonObject object) {
        collections.computeIfAbsent(path, _ -> new CopyOnWriteArrayList<>()).add(object);
    }

    /// Returns the lists that were read, with their query parameters.
    List<String> listed() {
        return List.copyOf(listed);
    }

    /// Returns the Authorization headers of the requests.
    List<String> authorizations() {
        return List.copyOf(authorizations);
    }

    URI uri() {
        String scheme = server instanceof HttpsServer ? "https" : "http";
        return URI.create(scheme + "://127.0.0.1:" + server.getAddress().getPort());
    }

    /// Writes a kubeconfig for this API into `folder`.
    public Path kubeconfig(Path folder) {
        try {
            return Files.writeString(folder.resolve("kubeconfig"), """
                    apiVersion: v1
                    kind: Config
                    clusters: [{name: lab, cluster: {server: "%s"}}]
                    users: [{name: node, user: {token: s3cret}}]
                    contexts: [{name: lab, context: {cluster: lab, user: node}}]
                    current-context: lab
                    """.formatted(uri()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        authorizations.add(Optional.ofNullable(exchange.getRequestHeaders().getFirst("Authorization"))
                .orElse(""));
        try (exchange) {
            Answer answer = instead.orElseGet(() -> usual(exchange));
            if (answer.status() == 0) {
                end.await();
                return;
            }
            byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /// Returns the received events, oldest first.
    public List<JsonObject> events() {
        return List.copyOf(events);
    }

    private Answer usual(HttpExchange exchange) {
        if (exchange.getRequestURI().getPath().matches(EVENTS)) {
            return event(exchange);
        }
        if (exchange.getRequestURI().getPath().matches(ACCESSES)) {
            return access(exchange);
        }
        if (exchange.getRequestURI().getPath().startsWith("/apis/resource.k8s.io/v1/")) {
            return list(exchange.getRequestURI());
        }
        JsonObject json = new JsonObject();
        if (!exchange.getRequestURI().getPath().equals(PATH) || grants.isEmpty()) {
            json.addProperty("kind", "Status");
            json.addProperty("message", "configmaps \"siphon-grants\" not found");
            return new Answer(404, json.toString());
        }
        JsonObject data = new JsonObject();
        data.addProperty(GrantsConfigMap.KEY, grants.get());
        json.addProperty("kind", "ConfigMap");
        json.add("data", data);
        return new Answer(200, json.toString());
    }

    /// Returns one object per page, whatever the requested limit: an API server may return fewer.
    private Answer list(URI uri) {
        Map<String, String> query = Arrays.stream(
                        Optional.ofNullable(uri.getQuery()).orElse("").split("&"))
                .map(each -> each.split("=", 2))
                .collect(Collectors.toMap(each -> each[0], each -> each[each.length - 1]));
        listed.add(uri.getPath() + " " + query.getOrDefault("fieldSelector", "") + query.getOrDefault("continue", ""));
        List<JsonObject> chosen = collections.getOrDefault(uri.getPath(), List.of()).stream()
                .filter(each -> isChosen(each, query.getOrDefault("fieldSelector", "")))
                .toList();
        int from = Integer.parseInt(query.getOrDefault("continue", "0"));
        JsonArray items = new JsonArray();
        chosen.stream().skip(from).limit(1).forEach(items::add);
        JsonObject metadata = new JsonObject();
        if (from + 1 < chosen.size()) {
            metadata.addProperty("continue", String.valueOf(from + 1));
        }
        JsonObject json = new JsonObject();
        json.add("metadata", metadata);
        json.add("items", items);
        return new Answer(200, json.toString());
    }

    private static boolean isChosen(JsonObject object, String selector) {
        return selector.isEmpty()
                || selector.equals("spec.nodeName="
                        + object.getAsJsonObject("spec").get("nodeName").getAsString());
    }

    private Answer access(HttpExchange exchange) {
        String path = exchange.getRequestURI().getPath();
        if (exchange.getRequestMethod().equals("PATCH")) {
            try (Reader body = new InputStreamReader(exchange.getRequestBody(), StandardCharsets.UTF_8)) {
                JsonObject access = JsonParser.parseReader(body).getAsJsonObject();
                accesses.put(path, access);
                lastAccess = access;
                return new Answer(201, access.toString());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        JsonObject now = accesses.getOrDefault(path, new JsonObject()).deepCopy();
        now.add("status", controller.apply(now.getAsJsonObject("spec")));
        return new Answer(200, now.toString());
    }

    private Answer event(HttpExchange exchange) {
        try (Reader body = new InputStreamReader(exchange.getRequestBody(), StandardCharsets.UTF_8)) {
            events.add(JsonParser.parseReader(body).getAsJsonObject());
            return new Answer(201, "{}");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        end.countDown();
        server.stop(0);
        requests.shutdownNow();
    }
}

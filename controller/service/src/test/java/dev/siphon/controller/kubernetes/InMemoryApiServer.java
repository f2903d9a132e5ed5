package dev.siphon.controller.kubernetes;

import static dev.siphon.controller.kubernetes.ApiPaths.isCollection;
import static dev.siphon.controller.kubernetes.ApiPaths.isIn;
import static dev.siphon.controller.kubernetes.ApiPaths.isInNamespace;
import static dev.siphon.controller.kubernetes.ApiPaths.name;
import static dev.siphon.controller.kubernetes.ApiPaths.namespaceOf;
import static dev.siphon.controller.kubernetes.ApiPaths.parent;
import static dev.siphon.controller.kubernetes.ApiPaths.query;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

/// The part of an API server that the adapter uses, in memory and without TLS. It has core objects and cluster-wide
/// custom ones, with names, labels, pages and conflicts.
final class InMemoryApiServer implements AutoCloseable {
    private static final int OK = 200;
    private static final int CREATED = 201;
    private static final int BAD_METHOD = 405;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int GONE = 410;
    private static final int INVALID = 422;
    private static final String METADATA = "metadata";
    private static final String RESOURCE_VERSION = "resourceVersion";
    private static final String GENERATION = "generation";

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /// By path, such as `/api/v1/namespaces/NS/secrets/NAME`.
    private final TreeMap<String, JsonObject> objects = new TreeMap<>();

    private final List<ObjectChange> changes = new ArrayList<>();

    private long version;
    private long requests;

    /// Changes before this version are forgotten.
    private long forgotten;
    private Function<String, OptionalInt> refusing = _ -> OptionalInt.empty();

    private record Answer(int code, JsonObject body) {}

    InMemoryApiServer() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/", this::handle);
        server.setExecutor(threads);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String query =
                    Optional.ofNullable(exchange.getRequestURI().getRawQuery()).orElse("");
            String method = query.contains("watch=true") ? "WATCH" : exchange.getRequestMethod();
            Optional<Answer> refusal =
                    refusal(method + " " + exchange.getRequestURI().getPath());
            if (refusal.isEmpty() && method.equals("WATCH")) {
                watch(exchange);
                return;
            }
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            Answer answer = refusal.isPresent() ? refusal.get() : answer(exchange, body);
            byte[] text = answer.body().toString().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(answer.code(), text.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(text);
            }
        }
    }

    /// Sends each change from a version on, or all objects and then each change. Ends after the client's timeout,
    /// or when the server is closed.
    private void watch(HttpExchange exchange) throws IOException {
        String collection = exchange.getRequestURI().getPath();
        Map<String, String> query = query(exchange.getRequestURI().getRawQuery());
        String selector = query.getOrDefault("fieldSelector", "");
        long end = System.nanoTime() + Long.parseLong(query.getOrDefault("timeoutSeconds", "3600")) * 1_000_000_000L;
        exchange.sendResponseHeaders(OK, 0);
        try (OutputStream out = exchange.getResponseBody()) {
            long seen = begin(query, collection, selector, out);
            for (Optional<ObjectChange> next = after(seen, end); next.isPresent(); next = after(seen, end)) {
                ObjectChange change = next.get();
                seen = change.version();
                if (isIn(change.path(), collection)) {
                    change.tell(selector, out);
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized long begin(Map<String, String> query, String collection, String selector, OutputStream out)
            throws IOException {
        String from = query.getOrDefault(RESOURCE_VERSION, "");
        if (!from.isEmpty()) {
            if (Long.parseLong(from) < forgotten) {
                ObjectChange.send(
                        "ERROR",
                        status(GONE, "Expired", "too old resource version").body(),
                        out);
            }
            return Long.parseLong(from);
        }
        for (Map.Entry<String, JsonObject> each : objects.entrySet()) {
            if (isIn(each.getKey(), collection)) {
                new ObjectChange(0, each.getKey(), Optional.empty(), Optional.of(each.getValue())).tell(selector, out);
            }
        }
        return version;
    }

    /// Returns the next change after that version; empty if there is none in time.
    private synchronized Optional<ObjectChange> after(long seen, long end) throws InterruptedException {
        while (seen >= forgotten) {
            Optional<ObjectChange> next =
                    changes.stream().filter(change -> change.version() > seen).findFirst();
            long left = (end - System.nanoTime()) / 1_000_000;
            if (next.isPresent() || left <= 0) {
                return next;
            }
            wait(left);
        }
        return Optional.empty();
    }

    /// Ends all watches, and forgets the changes so that none can resume.
    synchronized void forgetChanges() {
        changes.clear();
        version++;
        forgotten = version;
        notifyAll();
    }

    /// Creates an object like a POST.
    synchronized void add(String collection, String object) {
        Answer made = create(collection, json(object));
        if (made.code() != CREATED) {
            throw new IllegalArgumentException(made.body().toString());
        }
    }

    /// Returns the number of requests served.
    synchronized long requests() {
        return requests;
    }

    /// @param code the HTTP status for a request `GET /api/v1/...` (or `WATCH ...`); empty for normal service
    synchronized void refuse(Function<String, OptionalInt> code) {
        refusing = code;
    }

    private synchronized Optional<Answer> refusal(String request) {
        requests += request.startsWith("WATCH") ? 0 : 1;
        OptionalInt refused = refusing.apply(request);
        return refused.isPresent()
                ? Optional.of(status(refused.getAsInt(), "InternalError", "refused by the test"))
                : Optional.empty();
    }

    private synchronized Answer answer(HttpExchange exchange, String body) {
        String path = exchange.getRequestURI().getPath();
        Map<String, String> query = query(exchange.getRequestURI().getRawQuery());
        return switch (exchange.getRequestMethod()) {
            case "GET" -> objects.containsKey(path) ? new Answer(OK, there(path)) : getOrList(path, query);
            case "POST" -> create(path, json(body));
            case "PUT" -> replace(path.replaceFirst("/status$", ""), json(body));
            case "PATCH" ->
                body.startsWith("[")
                        ? change(
                                path.replaceFirst("/status$", ""),
                                JsonParser.parseString(body).getAsJsonArray())
                        : apply(path.replaceFirst("/status$", ""), json(body), type(exchange));
            case "DELETE" -> delete(path);
            default -> status(BAD_METHOD, "MethodNotAllowed", "the server does not allow this method");
        };
    }

    private static JsonObject json(String body) {
        return JsonParser.parseString(body).getAsJsonObject();
    }

    private JsonObject there(String path) {
        return Optional.ofNullable(objects.get(path)).orElseThrow();
    }

    private Answer getOrList(String path, Map<String, String> query) {
        return isCollection(path) ? list(path, query) : missing(path);
    }

    private Answer list(String path, Map<String, String> query) {
        List<JsonObject> fitting = objects.entrySet().stream()
                .filter(entry -> isIn(entry.getKey(), path))
                .filter(entry -> name(entry.getKey()).compareTo(query.getOrDefault("continue", "")) >= 0)
                .map(Map.Entry::getValue)
                .filter(object -> fits(object, query.getOrDefault("labelSelector", "")))
                .filter(object -> ObjectChange.selects(object, query.getOrDefault("fieldSelector", "")))
                .toList();
        int limit = Integer.parseInt(query.getOrDefault("limit", "0"));
        JsonArray items = new JsonArray();
        fitting.stream().limit(limit == 0 ? Integer.MAX_VALUE : limit).forEach(items::add);
        JsonObject metadata = new JsonObject();
        metadata.addProperty(RESOURCE_VERSION, Long.toString(version));
        if (limit > 0 && fitting.size() > limit) {
            metadata.addProperty(
                    "continue",
                    fitting.get(limit).getAsJsonObject(METADATA).get("name").getAsString());
        }
        JsonObject list = new JsonObject();
        list.addProperty("apiVersion", "v1");
        list.add(METADATA, metadata);
        list.add("items", items);
        return new Answer(OK, list);
    }

    private static boolean fits(JsonObject object, String selector) {
        JsonObject labels = Optional.ofNullable(object.getAsJsonObject(METADATA).getAsJsonObject("labels"))
                .orElseGet(JsonObject::new);
        return Arrays.stream(selector.split(",", -1))
                .filter(each -> !each.isEmpty())
                .allMatch(each -> {
                    String[] pair = each.split("=", 2);
                    JsonElement has = labels.get(pair[0]);
                    return has != null && (pair.length == 1 || has.getAsString().equals(pair[1]));
                });
    }

    private Answer create(String collection, JsonObject object) {
        JsonObject metadata = object.getAsJsonObject(METADATA);
        if (!metadata.has("name")) {
            metadata.addProperty("name", metadata.get("generateName").getAsString() + UUID.randomUUID());
        }
        String name = metadata.get("name").getAsString();
        String path = collection + "/" + name;
        if (isInNamespace(path) && !objects.containsKey(namespaceOf(path))) {
            return missing(namespaceOf(path));
        }
        if (objects.containsKey(path)) {
            return status(CONFLICT, "AlreadyExists", "\"" + name + "\" already exists");
        }
        return new Answer(CREATED, put(path, object, new JsonObject()));
    }

    private JsonObject put(String path, JsonObject object, JsonObject before) {
        JsonObject metadata = object.getAsJsonObject(METADATA);
        JsonObject old = Optional.ofNullable(before.getAsJsonObject(METADATA)).orElseGet(JsonObject::new);
        version++;
        metadata.addProperty(RESOURCE_VERSION, Long.toString(version));
        keep(metadata, old, "uid", UUID.randomUUID().toString());
        keep(
                metadata,
                old,
                "creationTimestamp",
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        boolean isSpecNew = !Objects.equals(object.get("spec"), before.get("spec"));
        long generation = old.has(GENERATION) ? old.get(GENERATION).getAsLong() : 0;
        metadata.addProperty(GENERATION, generation + (isSpecNew || generation == 0 ? 1 : 0));
        if (isInNamespace(path)) {
            metadata.addProperty("namespace", name(namespaceOf(path)));
        }
        Optional<JsonObject> replaced = Optional.ofNullable(objects.put(path, object));
        changes.add(new ObjectChange(version, path, replaced, Optional.of(object)));
        notifyAll();
        return object;
    }

    private static void keep(JsonObject metadata, JsonObject old, String field, String otherwise) {
        metadata.addProperty(field, old.has(field) ? old.get(field).getAsString() : otherwise);
    }

    private Answer replace(String path, JsonObject object) {
        if (!objects.containsKey(path)) {
            return missing(path);
        }
        JsonObject before = there(path);
        JsonElement base = object.getAsJsonObject(METADATA).get(RESOURCE_VERSION);
        if (base != null && !base.equals(before.getAsJsonObject(METADATA).get(RESOURCE_VERSION))) {
            return status(CONFLICT, "Conflict", "the object has been modified");
        }
        if (before.has("type") && !before.get("type").equals(object.get("type"))) {
            return status(INVALID, "Invalid", "type: field is immutable");
        }
        return new Answer(OK, put(path, object, before));
    }

    private static String type(HttpExchange exchange) {
        return Optional.ofNullable(exchange.getRequestHeaders().getFirst("Content-Type"))
                .orElse("");
    }

    private Answer change(String path, JsonArray operations) {
        if (!objects.containsKey(path)) {
            return missing(path);
        }
        JsonObject after = there(path).deepCopy();
        return JsonPatch.change(after, operations)
                ? new Answer(OK, put(path, after, there(path)))
                : status(INVALID, "Invalid", "a test of the patch fails");
    }

    /// @param type of the patch: a server-side apply creates a missing object
    private Answer apply(String path, JsonObject change, String type) {
        if (!objects.containsKey(path)) {
            return type.startsWith("application/apply-patch") ? create(parent(path), change) : missing(path);
        }
        JsonObject before = there(path);
        Optional<JsonElement> base =
                Optional.ofNullable(change.getAsJsonObject(METADATA)).map(metadata -> metadata.get(RESOURCE_VERSION));
        if (base.isPresent()
                && !base.equals(
                        Optional.ofNullable(before.getAsJsonObject(METADATA).get(RESOURCE_VERSION)))) {
            return status(CONFLICT, "Conflict", "the object has been modified");
        }
        JsonObject after = before.deepCopy();
        JsonPatch.merge(after, change, type.startsWith("application/strategic-merge"));
        return new Answer(OK, put(path, after, before));
    }

    private Answer delete(String path) {
        if (isCollection(path)) {
            List.copyOf(objects.keySet()).stream()
                    .filter(each -> parent(each).equals(path))
                    .forEach(this::remove);
        } else if (!objects.containsKey(path)) {
            return missing(path);
        } else {
            remove(path);
        }
        JsonObject success = new JsonObject();
        success.addProperty("kind", "Status");
        success.addProperty("apiVersion", "v1");
        success.add(METADATA, new JsonObject());
        success.addProperty("status", "Success");
        return new Answer(OK, success);
    }

    private void remove(String path) {
        version++;
        changes.add(new ObjectChange(version, path, Optional.ofNullable(objects.remove(path)), Optional.empty()));
        notifyAll();
    }

    private static Answer missing(String path) {
        return status(NOT_FOUND, "NotFound", "\"" + name(path) + "\" not found");
    }

    private static Answer status(int code, String reason, String message) {
        JsonObject status = new JsonObject();
        status.addProperty("kind", "Status");
        status.addProperty("apiVersion", "v1");
        status.add(METADATA, new JsonObject());
        status.addProperty("status", "Failure");
        status.addProperty("message", message);
        status.addProperty("reason", reason);
        status.addProperty("code", code);
        return new Answer(code, status);
    }
}

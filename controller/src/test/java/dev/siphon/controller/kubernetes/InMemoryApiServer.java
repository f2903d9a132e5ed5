package dev.siphon.controller.kubernetes;

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
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HashMap;
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

/// As much of an API server as the adapter uses, in memory and without TLS: objects of the core group, and custom
/// ones of the cluster, found by name or label, page by page, with conflicts.
final class InMemoryApiServer implements AutoCloseable {
    private static final int OK = 200;
    private static final int CREATED = 201;
    private static final int BAD_METHOD = 405;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int INVALID = 422;
    private static final String METADATA = "metadata";
    private static final String RESOURCE_VERSION = "resourceVersion";
    private static final String GENERATION = "generation";

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /// By path, as `/api/v1/namespaces/NS/secrets/NAME`.
    private final TreeMap<String, JsonObject> objects = new TreeMap<>();

    private long version;
    private long requests;
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
            if (Optional.ofNullable(exchange.getRequestURI().getRawQuery())
                    .orElse("")
                    .contains("watch=true")) {
                watch(exchange);
                return;
            }
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            Answer answer = answer(exchange, body);
            byte[] text = answer.body().toString().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(answer.code(), text.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(text);
            }
        }
    }

    /// All objects of a collection, and then each that comes or changes, until the server is closed.
    private void watch(HttpExchange exchange) throws IOException {
        exchange.sendResponseHeaders(OK, 0);
        long seen = 0;
        try (OutputStream out = exchange.getResponseBody()) {
            while (true) {
                List<JsonObject> changed =
                        changedAfter(seen, exchange.getRequestURI().getPath());
                for (JsonObject object : changed) {
                    JsonObject event = new JsonObject();
                    event.addProperty("type", "MODIFIED");
                    event.add("object", object);
                    out.write((event + "\n").getBytes(StandardCharsets.UTF_8));
                    seen = Math.max(seen, version(object));
                }
                out.flush();
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private static long version(JsonObject object) {
        return object.getAsJsonObject(METADATA).get(RESOURCE_VERSION).getAsLong();
    }

    /// Waits until there are some.
    private synchronized List<JsonObject> changedAfter(long seen, String collection) throws InterruptedException {
        while (true) {
            List<JsonObject> changed = objects.entrySet().stream()
                    .filter(entry -> isIn(entry.getKey(), collection))
                    .map(Map.Entry::getValue)
                    .filter(object -> version(object) > seen)
                    .map(JsonObject::deepCopy)
                    .toList();
            if (!changed.isEmpty()) {
                return changed;
            }
            wait();
        }
    }

    /// Makes an object as a POST does.
    synchronized void add(String collection, String object) {
        Answer made = create(collection, json(object));
        if (made.code() != CREATED) {
            throw new IllegalArgumentException(made.body().toString());
        }
    }

    /// How many requests it has answered.
    synchronized long requests() {
        return requests;
    }

    /// @param code what it answers to a request `GET /api/v1/...` in place of what it would; empty for as usual
    synchronized void refuse(Function<String, OptionalInt> code) {
        refusing = code;
    }

    private synchronized Answer answer(HttpExchange exchange, String body) {
        requests++;
        String path = exchange.getRequestURI().getPath();
        OptionalInt refused = refusing.apply(exchange.getRequestMethod() + " " + path);
        if (refused.isPresent()) {
            return status(refused.getAsInt(), "InternalError", "refused by the test");
        }
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
                        : apply(path.replaceFirst("/status$", ""), json(body), isApply(exchange));
            case "DELETE" -> delete(path);
            default -> status(BAD_METHOD, "MethodNotAllowed", "the server does not allow this method");
        };
    }

    private static JsonObject json(String body) {
        return JsonParser.parseString(body).getAsJsonObject();
    }

    private static Map<String, String> query(String raw) {
        Map<String, String> parts = new HashMap<>();
        for (String part : Optional.ofNullable(raw).orElse("").split("&", -1)) {
            String[] pair = part.split("=", 2);
            if (pair.length == 2) {
                parts.put(pair[0], URLDecoder.decode(pair[1], StandardCharsets.UTF_8));
            }
        }
        return parts;
    }

    private JsonObject there(String path) {
        return Optional.ofNullable(objects.get(path)).orElseThrow();
    }

    private static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private static String parent(String path) {
        return path.substring(0, path.lastIndexOf('/'));
    }

    /// `/api/v1/secrets` and the like: parts after `/api/v1`, or `/apis/GROUP/VERSION`, of a collection are one
    /// or three.
    private static boolean isCollection(String path) {
        int before = path.startsWith("/api/") ? 3 : 4;
        return (path.split("/", -1).length - before) % 2 == 1;
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

    /// Of a namespace's collection, or of the same in all namespaces.
    private static boolean isIn(String object, String collection) {
        String parent = parent(object);
        return parent.equals(collection)
                || parent.replaceFirst("/namespaces/[^/]+/", "/").equals(collection);
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

    private static boolean isInNamespace(String path) {
        return path.startsWith("/api/") && path.split("/", -1).length > 5;
    }

    private static String namespaceOf(String path) {
        return String.join("/", Arrays.copyOf(path.split("/", -1), 5));
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
        objects.put(path, object);
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

    /// Server-side apply makes what is not there; every other patch needs it.
    private static boolean isApply(HttpExchange exchange) {
        return Optional.ofNullable(exchange.getRequestHeaders().getFirst("Content-Type"))
                .filter(type -> type.startsWith("application/apply-patch"))
                .isPresent();
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

    private Answer apply(String path, JsonObject change, boolean makes) {
        if (!objects.containsKey(path)) {
            return makes ? create(parent(path), change) : missing(path);
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
        JsonPatch.merge(after, change);
        return new Answer(OK, put(path, after, before));
    }

    private Answer delete(String path) {
        if (isCollection(path)) {
            objects.keySet().removeIf(each -> parent(each).equals(path));
        } else if (!objects.containsKey(path)) {
            return missing(path);
        }
        objects.remove(path);
        JsonObject success = new JsonObject();
        success.addProperty("kind", "Status");
        success.addProperty("apiVersion", "v1");
        success.add(METADATA, new JsonObject());
        success.addProperty("status", "Success");
        return new Answer(OK, success);
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

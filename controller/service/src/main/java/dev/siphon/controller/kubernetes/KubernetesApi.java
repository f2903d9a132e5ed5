package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.utils.URLUtils;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends requests to the API server of Kubernetes, each with a deadline. It connects at the first request, so that
/// no start waits for it.
///
/// All methods throw [DriverException.BackendUnavailable] (UNAVAILABLE) without a reply within 5 s, or within the
/// caller's time if that is shorter. They throw [DriverException.AccessDenied] (PERMISSION_DENIED) if the driver
/// lacks permission, and [DriverException.BackendFault] (INTERNAL) for an unexpected reply. Messages name the
/// operation and the server's code, and quote no object: it may be a Secret.
final class KubernetesApi implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesApi.class);

    private static final Duration LONGEST = Duration.ofSeconds(5);

    /// Objects per page of a list: some hundred KB.
    private static final long PAGE = 250;

    /// Largest reply that is held, in bytes: an object (limited by etcd's request size) or a page of them.
    private static final int MOST_BYTES = 16 << 20;

    /// RFC 4918, section 11.2: a test in a JSON patch has failed, or the object would be invalid.
    private static final int HTTP_UNPROCESSABLE = 422;

    /// A refusal has some hundred bytes.
    private static final int MOST_STATUS_BYTES = 16 << 10;

    private static final String STOPPING = "the driver is stopping; retry";

    private final KubernetesAccess access;
    private final Supplier<Duration> timeLeft;
    private final ServerClock clock;

    /// A request is cancelled by interrupting its thread, so it needs no [dev.siphon.csi.DeadlineExecutor].
    private final ExecutorService requests = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("kubernetes-", 0).factory());

    /// Guarded by this object's lock.
    private Optional<KubernetesClient> client = Optional.empty();

    /// @param timeLeft the rest of the caller's deadline
    KubernetesApi(KubernetesAccess access, Supplier<Duration> timeLeft) {
        this(access, timeLeft, InstantSource.system());
    }

    /// @param clock this machine's
    KubernetesApi(KubernetesAccess access, Supplier<Duration> timeLeft, InstantSource clock) {
        this.access = access;
        this.timeLeft = timeLeft;
        this.clock = new ServerClock(clock);
    }

    /// Returns the API server's clock.
    InstantSource clock() {
        return clock;
    }

    /// Returns the driver's own namespace.
    String namespace() {
        return access.namespace();
    }

    /// Reads one object.
    ///
    /// @param doing the operation, for messages: `get Secret siphon/pvc-1`
    /// @param request a `get`, which returns null if there is no object
    <T> Optional<T> find(String doing, Function<KubernetesClient, T> request) {
        return ask(doing, server -> Optional.ofNullable(request.apply(server)));
    }

    /// Parses a reply body; it need not read all of it.
    @FunctionalInterface
    interface Reader<T> {
        T read(InputStream body) throws IOException;
    }

    /// Reads one object as a stream, since it may be too large to be held; empty if there is none.
    ///
    /// @param doing as for [#find]
    /// @param path below the server's address, made of checked names
    <T> Optional<T> read(String doing, String path, Reader<T> reader) {
        return read(doing, path, limit(), reader);
    }

    private <T> Optional<T> read(String doing, String path, Duration limit, Reader<T> reader) {
        return exchange(doing, path, limit, request -> request, (code, body) -> {
            if (code == HttpURLConnection.HTTP_NOT_FOUND) {
                return Optional.<T>empty();
            }
            check(doing, code, body);
            return Optional.of(reader.read(body));
        });
    }

    /// Reads a long-running stream in the same way.
    ///
    /// @param longest its deadline
    /// @param reader returns true
    /// @return false if the path does not exist
    boolean watch(String doing, String path, Duration longest, Reader<Boolean> reader) {
        return read(doing, path, longest, reader).isPresent();
    }

    /// Sends a change in one request, where the library would send two.
    ///
    /// @param path as for [#read]
    /// @param how sets the request's method and body
    /// @return false if the server refused with a code of `expected`, so that nothing changed
    boolean send(String doing, List<Integer> expected, String path, UnaryOperator<HttpRequest.Builder> how) {
        return exchange(doing, path, limit(), how, (code, body) -> {
            if (expected.contains(code)) {
                return false;
            }
            check(doing, code, body);
            return true;
        });
    }

    /// Replaces an object's status if the object is still the one that is meant; otherwise, and if it is gone, nothing
    /// changes.
    ///
    /// @param path of the object, as for [#read]
    /// @param field a JSON pointer to what tells the object from another of its name
    /// @param value of that field
    void replaceStatus(String title, String path, String field, String value, JsonObject status) {
        JsonObject tested = new JsonObject();
        tested.addProperty("op", "test");
        tested.addProperty("path", field);
        tested.addProperty("value", value);
        JsonObject added = new JsonObject();
        added.addProperty("op", "add");
        added.addProperty("path", "/status");
        added.add("value", status);
        String change = "[" + tested + "," + added + "]";
        boolean _ = send(
                "patch status of " + title,
                List.of(HttpURLConnection.HTTP_NOT_FOUND, HTTP_UNPROCESSABLE),
                path + "/status",
                request -> request.patch("application/json-patch+json", change));
    }

    /// Returns a typed object, or a part of one, as JSON for [#send].
    String json(Object value) {
        return client().getKubernetesSerialization().asJson(value);
    }

    /// Converts parts to a typed object; empty if they do not match the type, for example after the definition
    /// changed.
    <T extends HasMetadata> Optional<T> typed(JsonObject parts, Class<T> type) {
        try {
            return Optional.of(client().getKubernetesSerialization().unmarshal(parts.toString(), type));
        } catch (KubernetesClientException wrong) {
            LOG.warn(
                    "object {} is left out because it is not a valid {}: {}",
                    JsonParts.text(parts, "metadata", "name").orElse(""),
                    type.getSimpleName(),
                    wrong.getMessage());
            return Optional.empty();
        }
    }

    /// Parses a reply by its code; it need not read all of it.
    @FunctionalInterface
    private interface Answered<T> {
        T read(int code, InputStream body) throws IOException;
    }

    private <T> T exchange(
            String doing, String path, Duration limit, UnaryOperator<HttpRequest.Builder> how, Answered<T> answered) {
        return ask(doing, limit, server -> {
            HttpClient http = server.getHttpClient();
            HttpRequest request = how.apply(http.newHttpRequestBuilder()
                            .uri(URLUtils.join(server.getConfiguration().getMasterUrl(), path))
                            .header("Accept", "application/json")
                            // otherwise an abandoned request stays open: the library does not forward interrupt or
                            // cancel
                            .timeout(limit.toMillis(), TimeUnit.MILLISECONDS))
                    .build();
            try {
                HttpResponse<InputStream> answer =
                        http.sendAsync(request, InputStream.class).get();
                Optional.ofNullable(answer.header("Date")).ifPresent(clock::set);
                try (InputStream body = answer.body()) {
                    return answered.read(answer.code(), body);
                }
            } catch (IOException | ExecutionException broken) {
                throw new KubernetesClientException(doing, broken);
            } catch (InterruptedException given) {
                Thread.currentThread().interrupt();
                throw new KubernetesClientException(doing, given);
            }
        });
    }

    private void check(String doing, int code, InputStream body) throws IOException {
        if (code < HttpURLConnection.HTTP_OK || code >= HttpURLConnection.HTTP_MULT_CHOICE) {
            String text = new String(body.readNBytes(MOST_STATUS_BYTES), StandardCharsets.UTF_8);
            Status status = client().getKubernetesSerialization().unmarshal(text, Status.class);
            throw new KubernetesClientException(doing, code, status);
        }
    }

    /// Passes on all custom objects of a kind, page by page. For kinds that administrators write; [ObjectParts]
    /// reads those that tenants write.
    ///
    /// @param path of their collection
    /// @return false if the cluster lacks this kind
    boolean listCustom(String doing, String path, Consumer<JsonObject> each) {
        return pages(doing, path + "?limit=" + PAGE, body -> object(doing, body), page -> {
            page.getAsJsonArray("items").forEach(item -> each.accept(item.getAsJsonObject()));
            return JsonParts.text(page, "metadata", "continue").orElse("");
        });
    }

    /// Reads a collection page by page.
    ///
    /// @param doing as for [#find]
    /// @param path of the collection, with the page limit and a selector
    /// @param next processes a page and returns where the next one starts; "" after the last
    /// @return false if the cluster lacks this kind
    <T> boolean pages(String doing, String path, Reader<T> reader, Function<T, String> next) {
        String begin = "";
        do {
            String from = begin.isEmpty() ? "" : "&continue=" + URLEncoder.encode(begin, StandardCharsets.UTF_8);
            Optional<T> page = read(doing, path + from, reader);
            if (page.isEmpty()) {
                return false;
            }
            begin = next.apply(page.get());
        } while (!begin.isEmpty());
        return true;
    }

    /// Parses the server's reply with an object, or a page of objects.
    static JsonObject object(String doing, InputStream body) throws IOException {
        byte[] bytes = body.readNBytes(MOST_BYTES + 1);
        if (bytes.length > MOST_BYTES) {
            throw new DriverException.BackendFault(
                    doing + " was answered with more than " + (MOST_BYTES >> 20) + " MiB");
        }
        try {
            return JsonParser.parseString(new String(bytes, StandardCharsets.UTF_8))
                    .getAsJsonObject();
        } catch (JsonParseException | IllegalStateException e) {
            throw new DriverException.BackendFault(doing + " was not answered with objects", e);
        }
    }

    /// Passes on all objects of a kind, page by page.
    ///
    /// @param labels selects objects; empty for all
    <T extends HasMetadata> void list(
            String doing,
            String labels,
            BiFunction<KubernetesClient, ListOptions, KubernetesResourceList<T>> request,
            Consumer<T> each) {
        String next = "";
        do {
            ListOptions page = page(labels, next);
            KubernetesResourceList<T> found = find(doing, server -> request.apply(server, page))
                    .filter(answer -> answer.getMetadata() != null)
                    .orElseThrow(() -> new DriverException.BackendFault(
                            doing + " was not answered with a list by the API server of Kubernetes"));
            found.getItems().forEach(each);
            next = Optional.ofNullable(found.getMetadata().getContinue()).orElse("");
        } while (!next.isEmpty());
    }

    private static ListOptions page(String labels, String from) {
        ListOptionsBuilder page = new ListOptionsBuilder().withLimit(PAGE);
        if (!labels.isEmpty()) {
            page.withLabelSelector(labels);
        }
        if (!from.isEmpty()) {
            page.withContinue(from);
        }
        return page.build();
    }

    /// Changes something.
    ///
    /// @return false if the server refused with a code of `expected`, so that nothing changed
    boolean change(String doing, List<Integer> expected, Consumer<KubernetesClient> request) {
        return ask(doing, server -> {
            try {
                request.accept(server);
                return true;
            } catch (KubernetesClientException refused) {
                if (expected.contains(refused.getCode())) {
                    return false;
                }
                throw refused;
            }
        });
    }

    private <T> T ask(String doing, Function<KubernetesClient, T> request) {
        return ask(doing, limit(), request);
    }

    private <T> T ask(String doing, Duration limit, Function<KubernetesClient, T> request) {
        Future<T> running = submit(request);
        try {
            return running.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException _) {
            running.cancel(true);
            throw new DriverException.BackendUnavailable("the API server of Kubernetes gave no answer within "
                    + limit.toMillis() + " ms (" + doing + "); retry");
        } catch (ExecutionException failed) {
            throw ApiFailures.meaning(
                    doing, Optional.<Throwable>ofNullable(failed.getCause()).orElse(failed));
        } catch (InterruptedException _) {
            running.cancel(true);
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable(STOPPING);
        }
    }

    private <T> Future<T> submit(Function<KubernetesClient, T> request) {
        try {
            return requests.submit(() -> request.apply(client()));
        } catch (RejectedExecutionException _) { // after close(), which does not wait for its callers
            throw new DriverException.BackendUnavailable(STOPPING);
        }
    }

    /// Returns the deadline of one request: at least one millisecond, since some libraries treat zero as no limit.
    private Duration limit() {
        return Collections.max(List.of(Collections.min(List.of(timeLeft.get(), LONGEST)), Duration.ofMillis(1)));
    }

    private synchronized KubernetesClient client() {
        KubernetesClient open = client.orElseGet(() -> Connection.open(access, LONGEST));
        client = Optional.of(open);
        return open;
    }

    @Override
    public void close() {
        requests.shutdownNow();
        synchronized (this) {
            client.ifPresent(KubernetesClient::close);
        }
    }
}

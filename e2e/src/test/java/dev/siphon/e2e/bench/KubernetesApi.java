package dev.siphon.e2e.bench;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/// The Kubernetes API as paths and JSON. A refused request is an [IllegalStateException].
final class KubernetesApi implements AutoCloseable {
    private static final String JSON = "application/json";
    private static final String DELETE_OPTIONS = "{\"apiVersion\": \"v1\", \"kind\": \"DeleteOptions\"}";
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /// Longer than any measurement; by default the API ends a watch after 30 to 60 minutes.
    private static final Duration WATCH_LIMIT = Duration.ofHours(12);

    private final URI server;
    private final HttpClient http;

    private KubernetesApi(URI server, HttpClient http) {
        this.server = server;
        this.http = http;
    }

    /// Returns a client for the user of a kubeconfig. It connects with the first request.
    static KubernetesApi of(Path kubeconfig) {
        Config config = Config.fromKubeconfig(kubeconfig.toFile());
        config.setRequestRetryBackoffLimit(0);
        return new KubernetesApi(
                URI.create(config.getMasterUrl()),
                new JdkHttpClientFactory().newBuilder(config).build());
    }

    /// Creates an object in `collection`.
    void create(String collection, String object) {
        send(collection, HttpURLConnection.HTTP_CREATED, request(collection).post(JSON, object));
    }

    /// Requests the deletion of the object at `path`, which may finish later.
    void delete(String path) {
        send(path, HttpURLConnection.HTTP_OK, request(path).delete(JSON, DELETE_OPTIONS));
    }

    /// Watches `collection` on a thread of its own: passes on its objects, then each change, as the API's
    /// `WatchEvent`s.
    ///
    /// @param ended runs when the watch ends
    void watch(String collection, Consumer<JsonObject> told, Runnable ended) {
        String path = collection + "?watch=true&timeoutSeconds=" + WATCH_LIMIT.toSeconds();
        HttpResponse<InputStream> response =
                answer(path, http.sendAsync(request(path).build(), InputStream.class));
        if (response.code() != HttpURLConnection.HTTP_OK) {
            throw new IllegalStateException(path + ": HTTP " + response.code());
        }
        Thread.ofPlatform().daemon().name("watch").start(() -> read(response.body(), told, ended));
    }

    private static void read(InputStream body, Consumer<JsonObject> told, Runnable ended) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8))) {
            lines.lines()
                    .map(line -> JsonParser.parseString(line).getAsJsonObject())
                    .forEach(told);
        } catch (IOException | UncheckedIOException _) {
            // the connection was cut; `ended` informs the caller
        } finally {
            ended.run();
        }
    }

    private HttpRequest.Builder request(String path) {
        return http.newHttpRequestBuilder().uri(server.resolve(path)).header("Accept", JSON);
    }

    private void send(String path, int expected, HttpRequest.Builder request) {
        HttpRequest limited =
                request.timeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS).build();
        HttpResponse<String> response = answer(path, http.sendAsync(limited, String.class));
        if (response.code() != expected) {
            throw new IllegalStateException(path + ": HTTP " + response.code() + ", " + response.body());
        }
    }

    private static <T> T answer(String path, CompletableFuture<T> answer) {
        try {
            return answer.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(path + ": interrupted", e);
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException(path + " is not answered", e);
        }
    }

    @Override
    public void close() {
        http.close();
    }
}

package dev.siphon.node.kubernetes;

import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Quoted;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/// Requests to the Kubernetes API, one answer each: no retries, which callers of CSI make anyway.
///
/// Of the client library this uses what reads a kubeconfig, speaks TLS and authenticates, but none of its model:
/// a node reads one object of a known form.
final class ApiConnection implements AutoCloseable {
    /// The time for one request.
    static final Duration LIMIT = Duration.ofSeconds(2);

    private final URI server;
    private final HttpClient http;

    private ApiConnection(URI server, HttpClient http) {
        this.server = server;
        this.http = http;
    }

    /// An answer, whatever it says.
    record Reply(int status, String body) {
        /// The status, and what the API says beside it as a `Status` object (Kubernetes API conventions,
        /// "Response Status Kind").
        String describe() {
            return "HTTP " + status + words();
        }

        private String words() {
            try {
                return Optional.ofNullable(
                                JsonParser.parseString(body).getAsJsonObject().get("message"))
                        .filter(message -> !message.isJsonNull())
                        .map(message -> ", " + Quoted.of(message.getAsString()))
                        .orElse("");
            } catch (JsonParseException | IllegalStateException _) {
                return ""; // from something before the API
            }
        }
    }

    /// Connects with the first request.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if certificates or kubeconfig cannot be read
    static ApiConnection to(ApiAccess access) {
        try {
            Config config = config(access);
            config.setConnectionTimeout((int) LIMIT.toMillis());
            config.setRequestRetryBackoffLimit(0);
            // one request at a time: what HTTP/2 adds is memory
            config.setHttp2Disable(true);
            return new ApiConnection(URI.create(config.getMasterUrl()), client(config));
        } catch (KubernetesClientException | IllegalArgumentException e) {
            throw new DriverException.BackendUnavailable(
                    "the Kubernetes API cannot be used: " + (e.getCause() == null ? e : e.getCause()), e);
        }
    }

    private static HttpClient client(Config config) {
        try {
            return new JdkHttpClientFactory().newBuilder(config).build();
        } catch (KubernetesClientException e) {
            boolean hasKey = config.getClientKeyData() != null || config.getClientKeyFile() != null;
            if (!hasKey || "EC".equals(config.getClientKeyAlgo())) {
                throw e;
            }
            // a PKCS#8 key does not say in its first line of which kind it is, and the library takes it for RSA
            config.setClientKeyAlgo("EC");
            return new JdkHttpClientFactory().newBuilder(config).build();
        }
    }

    private static Config config(ApiAccess access) {
        return switch (access) {
            case ApiAccess.Kubeconfig kubeconfig -> parsed(kubeconfig.file());
            case ApiAccess.Pod pod -> {
                Config config = Config.empty();
                config.setMasterUrl(pod.server().toString());
                config.setCaCertFile(pod.account().resolve("ca.crt").toString());
                // read for each request: the kubelet replaces the file before the token ends
                config.setOauthTokenProvider(() -> token(pod.account().resolve("token")));
                yield config;
            }
        };
    }

    private static Config parsed(Path kubeconfig) {
        if (!Files.isReadable(kubeconfig)) {
            throw new DriverException.BackendUnavailable(kubeconfig + " cannot be read");
        }
        try {
            return Config.fromKubeconfig(kubeconfig.toFile());
        } catch (RuntimeException _) {
            // the library fails in its own, YAML's and Java's ways; what they say quotes the file, which holds keys
            throw new DriverException.BackendUnavailable(kubeconfig + " is no kubeconfig");
        }
    }

    private static String token(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable("the pod's token cannot be read: " + e, e);
        }
    }

    /// Reads what is at `path`, which begins with `/`.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if there is no answer within [#LIMIT]
    Reply get(String path) {
        return get(path, LIMIT);
    }

    /// As [#get(String)], within `limit`.
    Reply get(String path, Duration limit) {
        return send(path, limit, request -> request);
    }

    /// Sends a request.
    ///
    /// @param more what makes it another one than a GET
    Reply send(String path, UnaryOperator<HttpRequest.Builder> more) {
        return send(path, LIMIT, more);
    }

    private Reply send(String path, Duration limit, UnaryOperator<HttpRequest.Builder> more) {
        HttpRequest request = more.apply(http.newHttpRequestBuilder()
                        .uri(server.resolve(path))
                        .header("Accept", "application/json")
                        .timeout(limit.toMillis(), TimeUnit.MILLISECONDS))
                .build();
        CompletableFuture<HttpResponse<String>> answer = http.sendAsync(request, String.class);
        try {
            HttpResponse<String> response = answer.get(limit.toMillis(), TimeUnit.MILLISECONDS);
            return new Reply(response.code(), response.body() == null ? "" : response.body());
        } catch (TimeoutException _) {
            answer.cancel(true);
            throw new DriverException.BackendUnavailable(
                    "the Kubernetes API at " + server + " has not answered within " + limit.toMillis() + " ms");
        } catch (InterruptedException _) {
            answer.cancel(true);
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("interrupted while waiting for the Kubernetes API");
        } catch (ExecutionException e) {
            if (e.getCause() instanceof DriverException own) {
                throw own;
            }
            throw new DriverException.BackendUnavailable(
                    "the Kubernetes API at " + server + " does not answer: " + e.getCause(), e);
        }
    }

    /// Reads what is at `path` as it comes, line by line, until the other side ends it.
    ///
    /// @param limit when it is ended at the latest, also if the other side says nothing any more
    /// @return the status; lines are those of a good one
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if there is no answer within [#LIMIT]
    int lines(String path, Duration limit, Consumer<String> each) {
        HttpRequest request = http.newHttpRequestBuilder()
                .uri(server.resolve(path))
                .header("Accept", "application/json")
                .build();
        CompletableFuture<HttpResponse<InputStream>> answer = http.sendAsync(request, InputStream.class);
        try {
            HttpResponse<InputStream> response = answer.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            CompletableFuture<?> end = CompletableFuture.runAsync(
                    () -> close(response.body()),
                    CompletableFuture.delayedExecutor(limit.toMillis(), TimeUnit.MILLISECONDS));
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
                if (response.isSuccessful()) {
                    lines.lines().forEach(each);
                }
            } finally {
                end.cancel(false);
            }
            return response.code();
        } catch (TimeoutException _) {
            answer.cancel(true);
            throw new DriverException.BackendUnavailable(
                    "the Kubernetes API at " + server + " has not answered within " + LIMIT.toSeconds() + " s");
        } catch (InterruptedException _) {
            answer.cancel(true);
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("interrupted while waiting for the Kubernetes API");
        } catch (ExecutionException | IOException | UncheckedIOException e) {
            throw new DriverException.BackendUnavailable("the Kubernetes API at " + server + " broke off: " + e, e);
        }
    }

    private static void close(InputStream body) {
        try {
            body.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // nobody waits
        }
    }

    @Override
    public void close() {
        http.close();
    }
}

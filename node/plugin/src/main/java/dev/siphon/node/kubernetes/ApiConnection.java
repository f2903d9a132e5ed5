package dev.siphon.node.kubernetes;

import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
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
import java.net.HttpURLConnection;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/// Requests to the Kubernetes API, one answer each: no retries, which callers of CSI make anyway.
///
/// A request is cancelled at its deadline, so it needs no [dev.siphon.csi.DeadlineExecutor].
///
/// Of the client library this uses what reads a kubeconfig, speaks TLS and authenticates, but none of its model:
/// a node reads one object of a known form.
final class ApiConnection implements AutoCloseable {
    /// The time for one request.
    static final Duration LIMIT = Duration.ofSeconds(2);

    /// Of an answer: some hundred objects of the kinds that a node reads. What is in them multiplies in memory.
    static final int MOST_BYTES = 512 << 10;

    private static final int MOST_STATUS_BYTES = 64 << 10;

    private final URI server;
    private final HttpClient http;

    private ApiConnection(URI server, HttpClient http) {
        this.server = server;
        this.http = http;
    }

    /// Reads an answer.
    @FunctionalInterface
    interface Reader<T> {
        /// @param body is closed for it
        T read(int status, InputStream body) throws IOException;
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
                        .map(message -> ", " + QuotedText.of(message.getAsString()))
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
            case ApiAccess.PodAccess pod -> {
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
            throw new DriverException.BackendUnavailable(kubeconfig + " is not a kubeconfig");
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
    /// @throws DriverException.BackendFault (INTERNAL) if that has more than [#MOST_BYTES]
    Reply get(String path) {
        return get(path, MOST_BYTES);
    }

    /// As [#get(String)], of an answer with `mostBytes`.
    Reply get(String path, int mostBytes) {
        return read(path, LIMIT, (status, body) -> reply(path, status, body, mostBytes));
    }

    /// Sends a request.
    ///
    /// @param more what makes it another one than a GET
    /// @throws DriverException.BackendFault (INTERNAL) if the answer has more than [#MOST_BYTES]
    Reply send(String path, UnaryOperator<HttpRequest.Builder> more) {
        HttpRequest.Builder request = more.apply(request(path)).timeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        return exchange(request, LIMIT, LIMIT, (status, body) -> reply(path, status, body, MOST_BYTES));
    }

    /// Reads what is at `path` as it comes.
    ///
    /// @param limit for all of it, what `reader` does included
    /// @param reader has to end by itself what has no end; the rest is not fetched
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it is not there within `limit`
    <T> T read(String path, Duration limit, Reader<T> reader) {
        HttpRequest.Builder request = request(path).timeout(limit.toMillis(), TimeUnit.MILLISECONDS);
        return exchange(request, limit, limit, reader);
    }

    /// Reads what is at `path` as it comes, line by line, until the other side ends it.
    ///
    /// @param limit when it is ended at the latest, also if the other side says nothing any more
    /// @return the status; lines are those of a good one
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if there is no answer within [#LIMIT]
    /// @throws DriverException.BackendFault (INTERNAL) if a line has more than [#MOST_BYTES]
    int lines(String path, Duration limit, Consumer<String> each) {
        return exchange(request(path), LIMIT, limit, (status, body) -> {
            if (isGood(status)) {
                new BufferedReader(new InputStreamReader(
                                CappedStream.lines(body, "a line of " + path, MOST_BYTES), StandardCharsets.UTF_8))
                        .lines()
                        .forEach(each);
            }
            return status;
        });
    }

    /// Of what is no good answer, the beginning: it is for people.
    static Reply reply(String path, int status, InputStream body, int mostBytes) throws IOException {
        byte[] bytes = isGood(status)
                ? CappedStream.whole(body, "the answer to " + path, mostBytes).readAllBytes()
                : body.readNBytes(MOST_STATUS_BYTES);
        return new Reply(status, new String(bytes, StandardCharsets.UTF_8));
    }

    private static boolean isGood(int status) {
        return status >= HttpURLConnection.HTTP_OK && status < HttpURLConnection.HTTP_MULT_CHOICE;
    }

    private HttpRequest.Builder request(String path) {
        return http.newHttpRequestBuilder().uri(server.resolve(path)).header("Accept", "application/json");
    }

    /// The body is never in memory as a whole: the other side waits until it is read.
    ///
    /// @param first until there is an answer
    /// @param whole until the answer ends
    private <T> T exchange(HttpRequest.Builder request, Duration first, Duration whole, Reader<T> reader) {
        long begun = System.nanoTime();
        CompletableFuture<HttpResponse<InputStream>> answer = http.sendAsync(request.build(), InputStream.class);
        AtomicBoolean late = new AtomicBoolean();
        try {
            HttpResponse<InputStream> response = answer.get(first.toMillis(), TimeUnit.MILLISECONDS);
            try (InputStream body = response.body()) {
                CompletableFuture<?> end = CompletableFuture.runAsync(
                        () -> {
                            late.set(true);
                            close(body);
                        },
                        CompletableFuture.delayedExecutor(
                                whole.toNanos() - (System.nanoTime() - begun), TimeUnit.NANOSECONDS));
                try {
                    return reader.read(response.code(), body);
                } finally {
                    end.cancel(false);
                }
            }
        } catch (TimeoutException _) {
            answer.cancel(true);
            throw late(first);
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
        } catch (IOException | UncheckedIOException e) {
            throw late.get()
                    ? late(whole)
                    : new DriverException.BackendUnavailable("the Kubernetes API at " + server + " broke off: " + e, e);
        }
    }

    private DriverException.BackendUnavailable late(Duration limit) {
        return new DriverException.BackendUnavailable(
                "the Kubernetes API at " + server + " has not answered within " + limit.toMillis() + " ms");
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

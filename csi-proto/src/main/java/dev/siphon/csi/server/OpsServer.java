package dev.siphon.csi.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// HTTP for operators: `/healthz` (200 while the process lives; touches nothing else, so a hung Ceph never gets a
/// process killed), `/readyz` (200 or 503 with the reason) and `/metrics` (Prometheus text).
public final class OpsServer implements AutoCloseable {
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String METRICS = PrometheusTextFormatWriter.CONTENT_TYPE;

    private final HttpServer server;
    private final ExecutorService requests;

    private OpsServer(HttpServer server, ExecutorService requests) {
        this.server = server;
        this.requests = requests;
    }

    /// What a path answers.
    private record Answer(int status, String contentType, String body) {
        static Answer text(int status, String body) {
            return new Answer(status, TEXT, body + "\n");
        }
    }

    @FunctionalInterface
    private interface Page {
        Answer answer() throws IOException;
    }

    /// Starts to serve.
    ///
    /// @throws StartFailure if the address cannot be bound
    public static OpsServer start(OpsAddress address, Readiness readiness, PrometheusRegistry registry) {
        try {
            HttpServer server = HttpServer.create(address.resolve(), 0);
            ExecutorService requests = Executors.newThreadPerTaskExecutor(
                    Thread.ofVirtual().name("ops-", 0).factory());
            server.setExecutor(requests);
            page(server, "/healthz", () -> Answer.text(200, "ok"));
            page(server, "/readyz", () -> ready(readiness.state()));
            page(server, "/metrics", () -> metrics(registry));
            server.start();
            return new OpsServer(server, requests);
        } catch (IOException e) {
            throw new StartFailure("cannot serve HTTP on " + address, e);
        }
    }

    /// Where it listens, with the port it got.
    public InetSocketAddress address() {
        return server.getAddress();
    }

    @Override
    public void close() {
        server.stop(0);
        requests.shutdown();
    }

    private static Answer ready(Readiness.State state) {
        return state.ready()
                ? Answer.text(
                        200, "ready since " + state.since() + (state.reason().isEmpty() ? "" : "; " + state.reason()))
                : Answer.text(503, "not ready since " + state.since() + ": " + state.reason());
    }

    private static Answer metrics(PrometheusRegistry registry) throws IOException {
        return new Answer(200, METRICS, text(registry));
    }

    /// The metrics as Prometheus reads them.
    static String text(PrometheusRegistry registry) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrometheusTextFormatWriter.create().write(out, registry.scrape());
        return out.toString(StandardCharsets.UTF_8);
    }

    private static void page(HttpServer server, String path, Page page) {
        server.createContext(path, exchange -> {
            try (exchange) {
                // a context also takes every path that starts with its own
                if (!exchange.getRequestURI().getPath().equals(path)) {
                    send(exchange, Answer.text(404, "not found"));
                } else if (!exchange.getRequestMethod().equals("GET")) {
                    send(exchange, Answer.text(405, "only GET"));
                } else {
                    send(exchange, page.answer());
                }
            }
        });
    }

    private static void send(HttpExchange exchange, Answer answer) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", answer.contentType());
        byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(answer.status(), body.length);
        exchange.getResponseBody().write(body);
    }
}

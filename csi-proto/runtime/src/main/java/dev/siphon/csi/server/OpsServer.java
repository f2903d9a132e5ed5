package dev.siphon.csi.server;

import dev.siphon.csi.server.HttpCall.Reply;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.net.InetSocketAddress;

/// Serves HTTP for operators: `/healthz`, `/readyz` (200, or 503 with the reason) and `/metrics` (Prometheus text).
/// `/healthz` returns 200 while the process lives and checks nothing else, so that a hung Ceph never gets the
/// process killed.
public final class OpsServer implements AutoCloseable {
    private final HttpServer server;

    private OpsServer(HttpServer server) {
        this.server = server;
    }

    /// Starts the server.
    ///
    /// @throws StartFailure if the address cannot be bound
    public static OpsServer start(OpsAddress address, Readiness readiness, PrometheusRegistry registry) {
        return start(address, readiness, registry, HttpConnection.Timeouts.USUAL);
    }

    static OpsServer start(
            OpsAddress address, Readiness readiness, PrometheusRegistry registry, HttpConnection.Timeouts timeouts) {
        MetricsPage metrics = new MetricsPage(registry);
        return new OpsServer(HttpServer.startForAll(address, call -> answer(call, readiness, metrics), timeouts));
    }

    /// Returns the address with the actual port.
    public InetSocketAddress address() {
        return server.address().orElseThrow();
    }

    @Override
    public void close() {
        server.close();
    }

    private static Reply answer(HttpCall call, Readiness readiness, MetricsPage metrics) {
        String page = String.join("/", call.path());
        boolean known = page.equals("healthz") || page.equals("readyz") || page.equals("metrics");
        if (!known) {
            return Reply.text(404, "not found");
        }
        if (!call.method().equals("GET")) {
            return Reply.text(405, "only GET");
        }
        return switch (page) {
            case "healthz" -> Reply.text(200, "ok");
            case "readyz" -> ready(readiness.state());
            default -> metrics.reply();
        };
    }

    private static Reply ready(Readiness.ReadinessState state) {
        return state.ready()
                ? Reply.text(
                        200, "ready since " + state.since() + (state.reason().isEmpty() ? "" : "; " + state.reason()))
                : Reply.text(503, "not ready since " + state.since() + ": " + state.reason());
    }
}

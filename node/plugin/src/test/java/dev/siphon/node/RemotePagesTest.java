package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.server.HttpAuth;
import dev.siphon.csi.server.HttpCall;
import dev.siphon.csi.server.MetricsPage;
import dev.siphon.node.kubernetes.ApiAccess;
import dev.siphon.node.kubernetes.MetricsReaders;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class RemotePagesTest {
    private static final Optional<String> TOKEN = Optional.of("Bearer the-token");
    private static final HttpAuth HOLDERS = (_, authorization) -> authorization.equals(TOKEN);

    private final PrometheusRegistry registry = new PrometheusRegistry();

    private RemotePages pages(Optional<MetricsReaders> readers) {
        return new RemotePages(
                call -> HttpCall.Reply.json(200, new JsonObject()), new MetricsPage(registry), HOLDERS, readers);
    }

    private static HttpCall call(String method, String... path) {
        return new HttpCall(method, List.of(path), Map.of(), () -> false);
    }

    @Test
    void withoutAClusterTheNodesTokenOpensAll() {
        Gauge.builder().name("answer").help("of all").register(registry).set(42);
        RemotePages pages = pages(Optional.empty());
        assertTrue(pages.admits(call("GET", "metrics"), TOKEN));
        assertTrue(pages.admits(call("GET", "v1", "datasets"), TOKEN));
        assertFalse(pages.admits(call("GET", "metrics"), Optional.empty()));
        assertTrue(pages.answer(call("GET", "metrics")).body().toStringUtf8().contains("answer 42"));
        assertEquals("{}\n", pages.answer(call("GET", "v1")).body().toStringUtf8());
        assertThrows(DriverException.InvalidRequest.class, () -> pages.answer(call("POST", "metrics")));
    }

    @Test
    void withAClusterThatSaysWhoReadsMetricsAndTheTokenOpensTheRest() {
        try (MetricsReaders silent = new MetricsReaders(new ApiAccess.Kubeconfig(Path.of("/no/kubeconfig")))) {
            RemotePages pages = pages(Optional.of(silent));
            assertTrue(pages.admits(call("GET", "v1", "datasets"), TOKEN));
            assertFalse(pages.admits(call("GET", "metrics"), Optional.empty()));
            assertThrows(
                    DriverException.BackendUnavailable.class,
                    () -> pages.admits(call("GET", "metrics"), TOKEN),
                    "the cluster is asked, whatever the token is");
        }
    }
}

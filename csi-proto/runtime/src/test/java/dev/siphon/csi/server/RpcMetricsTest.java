package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import dev.siphon.csi.DriverException;
import io.grpc.StatusRuntimeException;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RpcMetricsTest {
    @TempDir
    private Path dir;

    @Test
    void callsAreCountedAndTimedByMethodAndCode() throws IOException {
        PrometheusRegistry registry = new PrometheusRegistry();
        try (TestServer server =
                TestServer.start(dir.resolve("s"), List.of(new RpcMetrics(registry), new ErrorMapping()), request -> {
                    if (request.getName().isEmpty()) {
                        throw new DriverException.InvalidRequest("name is missing");
                    }
                    return CreateVolumeResponse.getDefaultInstance();
                })) {
            CreateVolumeRequest named =
                    CreateVolumeRequest.newBuilder().setName("pvc-1").build();
            server.stub().createVolume(named);
            server.stub().createVolume(named);
            assertThrows(
                    StatusRuntimeException.class,
                    () -> server.stub().createVolume(CreateVolumeRequest.getDefaultInstance()));
        }
        String text = MetricsPage.text(registry).toStringUtf8();
        assertTrue(text.contains("siphon_rpc_total{code=\"OK\",method=\"CreateVolume\"} 2.0"), text);
        assertTrue(text.contains("siphon_rpc_total{code=\"INVALID_ARGUMENT\",method=\"CreateVolume\"} 1.0"), text);
        assertTrue(text.contains("siphon_rpc_duration_seconds_count{code=\"OK\",method=\"CreateVolume\"} 2"), text);
        assertTrue(text.contains("siphon_rpc_in_flight 0.0"), text);
        assertTrue(!text.contains("pvc-1"), text);
    }
}

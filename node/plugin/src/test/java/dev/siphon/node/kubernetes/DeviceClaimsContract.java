package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.csi.NodeId;
import dev.siphon.node.device.DeviceClaims.Answer;
import dev.siphon.node.device.HeldDevice;
import dev.siphon.node.pod.Pod;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// How a node reads claims and slices as drivers and the scheduler write them.
@Timeout(60)
abstract class DeviceClaimsContract {
    /// Far longer than needed.
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final String node = "node-" + UUID.randomUUID();
    private final String driver = "gpu" + UUID.randomUUID().toString().substring(0, 8) + ".example.com";

    /// Returns the access to the API under test.
    abstract ApiAccess access();

    /// Returns an existing pod.
    abstract Pod pod(String name);

    /// Adds a ResourceSlice.
    abstract void slice(JsonObject slice);

    /// Adds a ResourceClaim with its status to the pods' namespace.
    abstract void claim(JsonObject claim);

    static JsonObject json(String text) {
        return JsonParser.parseString(text).getAsJsonObject();
    }

    private JsonObject slice(String onNode, String pool, int generation, String devices) {
        return json("""
                {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "%s"},
                 "spec": {"driver": "%s", "nodeName": "%s", "devices": [%s],
                          "pool": {"name": "%s", "generation": %d, "resourceSliceCount": 1}}}
                """.formatted("slice-" + UUID.randomUUID(), driver, onNode, devices, pool, generation));
    }

    private JsonObject claim(String name, Pod reservedFor, String pool, String device) {
        return json("""
                {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "%s"},
                 "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}},
                 "status": {"reservedFor": [{"resource": "pods", "name": "%s", "uid": "%s"}],
                            "allocation": {"devices": {"results": [
                              {"request": "gpu", "driver": "%s", "pool": "%s", "device": "%s"}]}}}}
                """.formatted(name, reservedFor.name(), reservedFor.uid(), driver, pool, device));
    }

    private Answer ask(Pod pod) {
        return new ResourceClaimsApi(access(), new NodeId(node, Optional.empty()), new PrometheusRegistry())
                .of(pod, LIMIT);
    }

    @Test
    void aPodHasWhatItsClaimsWereAllocatedOnItsNode() {
        slice(slice(node, node, 1, """
                {"name": "gpu-0", "attributes": {"resource.kubernetes.io/pciBusID": {"string": "0000:43:00.0"},
                   "uuid": {"string": "GPU-1"}, "resource.kubernetes.io/numaNode": {"int": 1}}},
                {"name": "gpu-1", "attributes": {"uuid": {"string": "GPU-2"}}}"""));
        slice(slice("another-node", "another-node", 1, """
                {"name": "gpu-0", "attributes": {"uuid": {"string": "GPU-3"}}}"""));
        Pod train = pod("train-1");
        claim(claim("train-1-gpu", train, node, "gpu-0"));
        claim(claim("train-1-more", train, node, "gpu-1"));
        claim(claim("eval-1-gpu", pod("eval-1"), node, "gpu-0"));
        assertEquals(
                new Answer.Held(List.of(
                        new HeldDevice(driver, List.of("0000:43:00.0"), List.of("GPU-1", node + "/gpu-0"), Set.of(1)),
                        new HeldDevice(driver, List.of("GPU-2"), List.of(node + "/gpu-1"), Set.of()))),
                ask(train));
        assertEquals(ask(train), ask(Pod.named(train.namespace(), train.name())));
        assertEquals(new Answer.Held(List.of()), ask(new Pod(train.namespace(), train.name(), "of-an-earlier-one")));
    }

    @Test
    void aPodWithoutClaimsHasNothing() {
        assertEquals(new Answer.Held(List.of()), ask(pod("idle-1")));
    }

    @Test
    void whereNoDriverHasADeviceNobodysClaimsAreLookedAt() {
        Pod train = pod("train-3");
        claim(claim("train-3-gpu", train, "gone", "gpu-0"));
        assertEquals(new Answer.Held(List.of()), ask(train));
    }

    @Test
    void ofADeviceThatIsOnNoSliceOnlyTheNameIsKnown() {
        slice(slice(node, node, 1, "{\"name\": \"gpu-7\"}"));
        Pod train = pod("train-2");
        claim(claim("train-2-gpu", train, "gone", "gpu-0"));
        assertEquals(new Answer.Held(List.of(new HeldDevice(driver, List.of("gone/gpu-0"), Set.of()))), ask(train));
    }
}

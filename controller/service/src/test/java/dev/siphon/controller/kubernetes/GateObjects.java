package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.warm.GateMetrics;
import dev.siphon.controller.warm.GateSettings;
import dev.siphon.controller.warm.ReplicaProgress;
import dev.siphon.controller.warm.WarmupController;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.Digest;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.net.HttpURLConnection;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/// Creates nodes, pods at the gate and reports of nodes on a real API server. Requests are repeated while the server
/// starts: it answers `429` for a kind whose objects it has not loaded yet, even after it reports to be ready.
final class GateObjects {
    private static final Duration PAUSE = Duration.ofMillis(50);

    /// RFC 6585, section 4.
    private static final int TOO_MANY_REQUESTS = 429;

    private final TestCluster cluster;

    GateObjects(TestCluster cluster) {
        this.cluster = cluster;
    }

    /// Repeats a request until the server answers it, for as long as [TestCluster#PATIENT].
    ///
    /// @param request may be carried out twice
    private static <T> T patiently(Supplier<T> request) {
        long end = System.nanoTime() + TestCluster.PATIENT.toNanos();
        while (true) {
            try {
                return request.get();
            } catch (KubernetesClientException notNow) {
                if (!isStarting(notNow) || System.nanoTime() - end > 0) {
                    throw notNow;
                }
                LockSupport.parkNanos(PAUSE.toNanos());
            }
        }
    }

    /// No answer, `429` or `503`.
    private static boolean isStarting(KubernetesClientException refused) {
        return refused.getCode() <= 0
                || refused.getCode() == TOO_MANY_REQUESTS
                || refused.getCode() == HttpURLConnection.HTTP_UNAVAILABLE;
    }

    /// Creates a node with 8 GPUs. It is soon ready: Kubernetes keeps pods away from it until it has noticed that.
    void node(String name) {
        var _ = cluster.admin().raw("/api/v1/nodes", "POST", """
                {"apiVersion": "v1", "kind": "Node", "spec": {},
                 "metadata": {"name": "%1$s", "labels": {"kubernetes.io/hostname": "%1$s"}}}
                """.formatted(name));
        beat(name);
    }

    /// Renews the heartbeat like a kubelet; otherwise the node does not stay ready.
    void beat(String name) {
        String change = """
                {"status": {"allocatable": {"cpu": "64", "pods": "110", "nvidia.com/gpu": "8"},
                            "capacity": {"cpu": "64", "pods": "110", "nvidia.com/gpu": "8"},
                            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady",
                                            "lastHeartbeatTime": "%s"}]}}
                """.formatted(Instant.now().truncatedTo(ChronoUnit.SECONDS));
        var _ = patiently(() -> cluster.admin()
                .nodes()
                .withName(name)
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), change));
    }

    /// Waits until the node accepts pods.
    void awaitNode(String name) {
        CephLab.await(
                TestCluster.PATIENT.multipliedBy(3),
                () -> patiently(() -> cluster.admin().nodes().withName(name).get())
                        .getSpec()
                        .getTaints()
                        .isEmpty());
    }

    void removeNode(String name) {
        var _ = cluster.admin().raw("/api/v1/nodes/" + name, "DELETE", "{}");
    }

    /// Creates a pod at the gate with one GPU.
    ///
    /// @param dataset OWNER/NAME
    void pod(String name, String dataset) {
        var _ = cluster.admin()
                .raw("/api/v1/namespaces/" + cluster.access().namespace() + "/pods", "POST", """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s"},
                 "spec": {"serviceAccountName": "siphon-controller", "schedulerName": "none",
                          "schedulingGates": [{"name": "siphon.dev/dataset"}],
                          "containers": [{"name": "main", "image": "none",
                                          "resources": {"limits": {"nvidia.com/gpu": "1"}}}],
                          "volumes": [{"name": "data",
                            "csi": {"driver": "cephfs.siphon.dev", "volumeAttributes": {"dataset": "%s"}}}]}}
                """.formatted(
                                name, dataset));
    }

    /// Returns whether the gate is open for the pod.
    boolean isOpen(String pod) {
        return patiently(() -> cluster.admin()
                        .pods()
                        .inNamespace(cluster.access().namespace())
                        .withName(pod)
                        .get())
                .getSpec()
                .getSchedulingGates()
                .isEmpty();
    }

    /// Returns the replicas ordered from nodes, by dataset.
    Map<String, List<String>> replicas() {
        Map<String, List<String>> byDataset = new TreeMap<>();
        patiently(() -> cluster.admin()
                        .genericKubernetesResources(
                                KubernetesWarmupClusterContract.kind(DatasetReplica.KIND, DatasetReplica.PLURAL))
                        .list())
                .getItems()
                .forEach(object -> byDataset
                        .computeIfAbsent(String.valueOf(object.<String>get("spec", "dataset")), _ -> new ArrayList<>())
                        .add(object.getMetadata().getName()));
        return byDataset;
    }

    /// Returns what is ordered, by the objects' names.
    Map<String, DatasetReplica.Order> orders() {
        Map<String, DatasetReplica.Order> orders = new TreeMap<>();
        JsonParts.each(
                        JsonParser.parseString(patiently(() -> cluster.admin().raw("/" + ReplicaObjects.PATH)))
                                .getAsJsonObject(),
                        "items")
                .forEach(object -> orders.put(
                        JsonParts.text(object, "metadata", "name").orElseThrow(),
                        DatasetReplica.Order.ofSpec(
                                JsonParts.object(object, "spec").orElseThrow())));
        return orders;
    }

    /// Writes a node's report about a replica.
    void report(String replica, Report report) {
        JsonObject change = new JsonObject();
        change.add("status", report.toStatus());
        var _ = patiently(() -> cluster.admin()
                .genericKubernetesResources(
                        KubernetesWarmupClusterContract.kind(DatasetReplica.KIND, DatasetReplica.PLURAL))
                .withName(replica)
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), change.toString()));
    }

    /// Returns a controller with a gate that waits for up to an hour.
    ///
    /// @param datasets readable by everybody, as OWNER.NAME
    WarmupController warming(KubernetesAdapter adapter, List<String> datasets) {
        return warming(adapter, datasets, 0);
    }

    private static VolumeId.DatasetVolume volume(String dataset) {
        String digest = Digest.of(ByteBuffer.wrap(dataset.getBytes(StandardCharsets.UTF_8)))
                .beginning();
        return new VolumeId.DatasetVolume("lab", "cephfs", digest, Optional.empty(), "/datasets/" + dataset);
    }

    /// @param fills how many may run at once in the cluster; 0 for no limit
    WarmupController warming(KubernetesAdapter adapter, List<String> datasets, int fills) {
        Map<String, Grants.Shared> shared = new TreeMap<>();
        datasets.forEach(dataset -> shared.put(
                dataset,
                new Grants.Shared(
                        volume(dataset),
                        false,
                        new TreeSet<>(List.of(cluster.access().namespace())))));
        Grants grants = new Grants(Map.of(), shared);
        return new WarmupController(
                adapter.warming(),
                new GateSettings(Duration.ofHours(1), 2, fills),
                () -> grants,
                (question, _) -> new DatasetAccess.Refused(question.request(), new DriverException.InUse("not asked")),
                new GateMetrics(new PrometheusRegistry()),
                new ReplicaProgress(),
                adapter.clock());
    }
}

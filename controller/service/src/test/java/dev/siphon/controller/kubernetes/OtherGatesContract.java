package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.warm.GateMetrics;
import dev.siphon.controller.warm.GateSettings;
import dev.siphon.controller.warm.OrderedReplica;
import dev.siphon.controller.warm.ReplicaProgress;
import dev.siphon.controller.warm.WarmupController;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Pods with another controller's scheduling gate beside ours, reconciliation by reconciliation, over an API server
/// with a ready node. No scheduler places this test's pods.
abstract class OtherGatesContract {
    private static final String OURS = "siphon.dev/dataset";
    private static final String OTHER = "kueue.x-k8s.io/admission";
    private static final VolumeId.DatasetVolume VOLUME = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789abcdef".repeat(3).substring(0, 40), Optional.empty(), "/datasets/x");
    private static final String REPLICAS = "/" + KubernetesWarmupCluster.REPLICAS + DatasetReplica.PLURAL;
    private static final Duration MAX_WAIT = Duration.ofMinutes(10);

    private final String dataset = "x-" + UUID.randomUUID();
    private final List<String> pods = new ArrayList<>();
    private final PrometheusRegistry metrics = new PrometheusRegistry();
    private Optional<KubernetesAdapter> adapter = Optional.empty();
    private Optional<WarmupController> warming = Optional.empty();
    private Duration passed = Duration.ZERO;

    abstract TestCluster cluster();

    @BeforeEach
    void begin() {
        passed = Duration.ZERO;
        lead();
    }

    /// Starts a new leader.
    private void lead() {
        stopLeading();
        metrics.clear();
        KubernetesAdapter opened = cluster().adapter();
        adapter = Optional.of(opened);
        Grants grants = new Grants(
                Map.of(),
                Map.of("u1." + dataset, new Grants.Shared(VOLUME, false, new TreeSet<>(List.of(namespace())))));
        warming = Optional.of(new WarmupController(
                opened.warming(),
                new GateSettings(MAX_WAIT, 1),
                () -> grants,
                (question, _) -> new DatasetAccess.Refused(question.request(), new DriverException.InUse("not now")),
                new GateMetrics(metrics),
                new ReplicaProgress(),
                () -> Instant.now().plus(passed)));
    }

    private void stopLeading() {
        warming.ifPresent(WarmupController::close);
        adapter.ifPresent(KubernetesAdapter::close);
        warming = Optional.empty();
        adapter = Optional.empty();
    }

    @AfterEach
    void removeWhatWasMade() {
        stopLeading();
        pods.forEach(pod -> cluster().admin().raw(collection() + "/" + pod, "DELETE", "{}"));
        pods.clear();
        replicas().forEach(replica -> cluster().admin().raw(REPLICAS + "/" + replica.name(), "DELETE", "{}"));
    }

    private String namespace() {
        return cluster().access().namespace();
    }

    private String collection() {
        return "/api/v1/namespaces/" + namespace() + "/pods";
    }

    private String pod(String... gates) {
        String name = "pod-" + UUID.randomUUID();
        String list = Stream.of(gates).map("{\"name\": \"%s\"}"::formatted).collect(Collectors.joining(", "));
        var _ = cluster().admin().raw(collection(), "POST", """
                {"apiVersion": "v1", "kind": "Pod",
                 "metadata": {"name": "%s", "namespace": "%s", "labels": {"batch.kubernetes.io/job-name": "train"}},
                 "spec": {"serviceAccountName": "siphon-controller", "schedulerName": "none", "schedulingGates": [%s],
                          "containers": [{"name": "main", "image": "none"}],
                          "volumes": [{"name": "data",
                            "csi": {"driver": "cephfs.siphon.dev", "volumeAttributes": {"dataset": "u1/%s"}}}]}}
                """.formatted(name, namespace(), list, dataset));
        pods.add(name);
        return name;
    }

    /// Removes the other gate, like its controller.
    private void releaseOther(String pod) {
        patch(pod, "{\"spec\": {\"schedulingGates\": [{\"name\": \"" + OURS + "\"}]}}");
    }

    private void patch(String pod, String change) {
        var _ = cluster()
                .admin()
                .pods()
                .inNamespace(namespace())
                .withName(pod)
                .patch(PatchContext.of(PatchType.JSON_MERGE), change);
    }

    private JsonObject get(String path) {
        return JsonParser.parseString(cluster().admin().raw(path)).getAsJsonObject();
    }

    private List<String> gates(String pod) {
        return JsonParts.each(get(collection() + "/" + pod), "spec", "schedulingGates")
                .flatMap(gate -> JsonParts.text(gate, "name").stream())
                .toList();
    }

    private List<String> told(String pod) {
        return StreamSupport.stream(
                        get("/api/v1/namespaces/" + namespace() + "/events")
                                .getAsJsonArray("items")
                                .spliterator(),
                        false)
                .map(event -> event.getAsJsonObject())
                .filter(event -> JsonParts.text(event, "involvedObject", "name").equals(Optional.of(pod)))
                .flatMap(event -> JsonParts.text(event, "reason").stream())
                .sorted()
                .toList();
    }

    private List<OrderedReplica> replicas() {
        try (KubernetesAdapter own = cluster().adapter()) {
            return own.warming().replicas().stream()
                    .filter(replica -> replica.order().dataset().equals("u1." + dataset))
                    .toList();
        }
    }

    /// Reports like a node.
    private void report(Report report) {
        JsonObject change = new JsonObject();
        change.add("status", report.toStatus());
        for (OrderedReplica replica : replicas()) {
            var _ = cluster()
                    .admin()
                    .genericKubernetesResources(
                            KubernetesWarmupClusterContract.kind(DatasetReplica.KIND, DatasetReplica.PLURAL))
                    .withName(replica.name())
                    .subresource("status")
                    .patch(PatchContext.of(PatchType.JSON_MERGE), change.toString());
        }
    }

    private void look() {
        warming.orElseThrow().reconcile();
    }

    private double counted() {
        return metrics.scrape().stream()
                .filter(GaugeSnapshot.class::isInstance)
                .map(GaugeSnapshot.class::cast)
                .filter(gauge -> gauge.getMetadata().getName().equals("siphon_gated_pods"))
                .flatMap(gauge -> gauge.getDataPoints().stream())
                .mapToDouble(point -> point.getValue())
                .sum();
    }

    @Test
    void aPodThatAnotherGateHoldsIsLeftAlone() {
        String pod = pod(OTHER, OURS);
        look();
        passed = MAX_WAIT.plusSeconds(1);
        look();
        assertEquals(List.of(), replicas());
        assertEquals(List.of(), told(pod));
        assertEquals(List.of(OTHER, OURS), gates(pod));
        assertEquals(0, counted());
    }

    @Test
    void itsLongestWaitBeginsWhenItsOnlyGateIsOurs() {
        String pod = pod(OURS, OTHER);
        look();
        passed = MAX_WAIT.plusHours(1);
        releaseOther(pod);
        look();
        assertEquals(List.of("DatasetWarming"), told(pod));
        assertEquals(1, replicas().size());
        assertEquals(1, counted());
        report(Report.filling(50, 50, "/cache"));
        passed = passed.plus(MAX_WAIT).minusSeconds(30);
        look();
        assertEquals(List.of(OURS), gates(pod));
        passed = passed.plusSeconds(40);
        look();
        assertEquals(List.of(), gates(pod));
        assertEquals(List.of("DatasetNotWarm", "DatasetWarming"), told(pod));
    }

    @Test
    void whereItsDatasetIsThereItGoesAtOnce() {
        String first = pod(OURS);
        String held = pod(OURS, OTHER);
        look();
        report(Report.local(100, "/cache"));
        look();
        assertEquals(List.of(), gates(first), "it does not wait for one of its job that another gate holds");
        passed = MAX_WAIT.plusHours(1);
        releaseOther(held);
        look();
        assertEquals(List.of(), gates(held));
        assertEquals(List.of("DatasetWarm"), told(held));
    }

    /// No object records when the other gate was removed.
    @Test
    void anotherLeaderCountsAnew() {
        String pod = pod(OURS, OTHER);
        passed = Duration.ofHours(1);
        releaseOther(pod);
        look();
        report(Report.filling(50, 50, "/cache"));
        passed = passed.plus(MAX_WAIT).plusSeconds(10);
        lead();
        look();
        assertEquals(List.of(OURS), gates(pod));
        passed = passed.plus(MAX_WAIT).plusSeconds(10);
        look();
        assertEquals(List.of(), gates(pod));
    }

    @Test
    void ofAPodThatNoOtherGateHeldAnotherLeaderCountsOn() {
        String pod = pod(OURS);
        look();
        passed = MAX_WAIT.plusSeconds(10);
        lead();
        look();
        assertEquals(List.of(), gates(pod));
        assertTrue(told(pod).contains("DatasetNotWarm"), () -> told(pod).toString());
    }

    @Test
    void whatElseChangesOfAPodDoesNotProlongItsWait() {
        String pod = pod(OURS);
        look();
        patch(pod, "{\"spec\": {\"nodeSelector\": {\"kubernetes.io/os\": \"linux\"}}}");
        passed = MAX_WAIT.plusSeconds(10);
        look();
        assertEquals(List.of(), gates(pod));
    }
}

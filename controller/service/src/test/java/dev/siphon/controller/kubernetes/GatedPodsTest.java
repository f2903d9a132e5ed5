package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.warm.GateMetrics;
import dev.siphon.controller.warm.GateSettings;
import dev.siphon.controller.warm.OrderedReplica;
import dev.siphon.controller.warm.ReplicaProgress;
import dev.siphon.controller.warm.WarmupCluster;
import dev.siphon.controller.warm.WarmupController;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Pods on their way from the gate to the scheduler, reconciliation by reconciliation, over an API server in
/// memory; and the load on that server.
@Timeout(120)
final class GatedPodsTest {
    private static final String X = "u1.x";
    private static final VolumeId.DatasetVolume VOLUME = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789abcdef".repeat(3).substring(0, 40), Optional.empty(), "/datasets/x");
    private static final VolumeId.DatasetVolume ANOTHER =
            new VolumeId.DatasetVolume("lab", "cephfs", "f".repeat(40), Optional.empty(), "/datasets/x");
    private static final String WARMUPS = "/" + KubernetesWarmupCluster.REPLICAS + KubernetesWarmupCluster.WARMUPS;
    private static final String REPLICAS = "/" + KubernetesWarmupCluster.REPLICAS + DatasetReplica.PLURAL;

    @TempDir
    private Path folder = Path.of("");

    private final LinkedBlockingQueue<DatasetReplica.Question> asked = new LinkedBlockingQueue<>();
    private final InMemoryApiServer server = new InMemoryApiServer();
    private Optional<TestCluster> started = Optional.empty();
    private Optional<KubernetesAdapter> opened = Optional.empty();
    private Optional<WarmupController> warming = Optional.empty();
    private Grants grants = Grants.NONE;
    private Duration later = Duration.ZERO;

    @BeforeEach
    void start() {
        started = Optional.of(TestCluster.inMemory(folder, server));
        namespace("u1");
        node("node-1", 8);
        node("node-2", 8);
        grants = declared(VOLUME, "u1");
        lead();
    }

    /// Starts a new leader.
    private void lead() {
        stopLeading();
        KubernetesAdapter adapter = started.orElseThrow().adapter();
        opened = Optional.of(adapter);
        InstantSource clock = () -> Instant.now().plus(later);
        warming = Optional.of(new WarmupController(
                adapter.warming(),
                new GateSettings(Duration.ofMinutes(10), 2),
                () -> grants,
                (question, order) -> {
                    asked.add(question);
                    return new DatasetAccess.Refused(
                            question.request(), new DriverException.InUse("for " + order.dataset()));
                },
                new GateMetrics(new PrometheusRegistry()),
                new ReplicaProgress(),
                clock));
    }

    private void stopLeading() {
        warming.ifPresent(WarmupController::close);
        opened.ifPresent(KubernetesAdapter::close);
    }

    @AfterEach
    void stop() {
        stopLeading();
        started.ifPresent(TestCluster::close);
    }

    private static Grants declared(VolumeId.DatasetVolume volume, String... readers) {
        return new Grants(Map.of(), Map.of(X, new Grants.Shared(volume, false, new TreeSet<>(List.of(readers)))));
    }

    private WarmupCluster cluster() {
        return opened.orElseThrow().warming();
    }

    private void look() {
        warming.orElseThrow().reconcile();
    }

    private void make(String collection, String object) {
        var _ = started.orElseThrow().admin().raw(collection, "POST", object);
    }

    private void namespace(String name) {
        make("/api/v1/namespaces", """
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "%s"}}
                """.formatted(name));
    }

    private void node(String name, int gpus) {
        make("/api/v1/nodes", """
                {"metadata": {"name": "%s", "labels": {"kubernetes.io/hostname": "host-%s"}},
                 "status": {"allocatable": {"cpu": "64", "pods": "110", "nvidia.com/gpu": "%d"},
                            "conditions": [{"type": "Ready", "status": "True"}]}}
                """.formatted(name, name, gpus));
    }

    private void pod(String namespace, String name, int gpus, String dataset) {
        make("/api/v1/namespaces/" + namespace + "/pods", """
                {"metadata": {"name": "%s", "namespace": "%s", "labels": {"batch.kubernetes.io/job-name": "train"}},
                 "spec": {"schedulingGates": [{"name": "siphon.dev/dataset"}],
                          "containers": [{"resources": {"requests": {"nvidia.com/gpu": "%d"}}}],
                          "volumes": [{"name": "data",
                            "csi": {"driver": "cephfs.siphon.dev", "volumeAttributes": {"dataset": "%s"}}}]}}
                """.formatted(name, namespace, gpus, dataset));
    }

    /// Creates a pod with `padding` in its environment and this many tolerations.
    private void largePod(String name, String padding, int tolerations) {
        make("/api/v1/namespaces/u1/pods", """
                {"metadata": {"name": "%s", "namespace": "u1", "annotations": {"note": "%s"}},
                 "spec": {"schedulingGates": [{"name": "siphon.dev/dataset"}],
                          "containers": [{"env": [{"name": "X", "value": "%s"}],
                                          "resources": {"requests": {"nvidia.com/gpu": "1"}}}],
                          "tolerations": [%s],
                          "volumes": [{"name": "data",
                            "csi": {"driver": "cephfs.siphon.dev", "volumeAttributes": {"dataset": "u1/x"}}}]}}
                """.formatted(
                        name,
                        padding,
                        padding,
                        "{\"key\": \"a\", \"operator\": \"Exists\"}, ".repeat(tolerations)
                                + "{\"key\": \"b\", \"operator\": \"Exists\"}"));
    }

    private JsonObject get(String path) {
        return JsonParser.parseString(started.orElseThrow().admin().raw(path)).getAsJsonObject();
    }

    private Stream<JsonObject> items(String collection) {
        return StreamSupport.stream(get(collection).getAsJsonArray("items").spliterator(), false)
                .map(item -> item.getAsJsonObject());
    }

    private long waiting() {
        return cluster().gated(Instant.now()).size();
    }

    private List<String> told() {
        return items("/api/v1/namespaces/u1/events")
                .map(event -> JsonParts.text(event, "reason").orElse(""))
                .sorted()
                .toList();
    }

    private List<OrderedReplica> replicas() {
        return cluster().replicas();
    }

    private void report(Report report) {
        for (OrderedReplica replica : replicas()) {
            JsonObject object = get(REPLICAS + "/" + replica.name());
            object.add("status", report.toStatus());
            var _ = started.orElseThrow().admin().raw(REPLICAS + "/" + replica.name(), "PUT", object.toString());
        }
    }

    @Test
    void aPodGoesWhenItsDatasetIsThere() {
        pod("u1", "train", 2, "u1/x");
        look();
        assertEquals(
                List.of("node-1", "node-2"),
                replicas().stream()
                        .map(replica -> replica.order().node())
                        .sorted()
                        .toList());
        assertEquals(List.of("DatasetWarming"), told());
        report(Report.filling(50, 50, "/cache"));
        look();
        assertEquals(1, waiting());
        assertEquals(List.of("DatasetWarming"), told(), "once");
        report(Report.local(100, "/cache"));
        look();
        assertEquals(0, waiting());
        assertEquals(List.of("DatasetWarm", "DatasetWarming"), told());
        assertTrue(get("/api/v1/namespaces/u1/pods/train").toString().contains("[\"host-node-1\",\"host-node-2\"]"));
        look();
        assertTrue(replicas().stream().noneMatch(replica -> replica.order().wanted()), "nobody waits any more");
        assertEquals(2, replicas().size(), "what is there is known");
        report(Report.of(DatasetReplica.State.ABSENT));
        look();
        assertEquals(List.of(), replicas());
    }

    @Test
    void whoeverLeadsNextGoesOn() {
        pod("u1", "train", 2, "u1/x");
        look();
        List<OrderedReplica> before = replicas();
        lead();
        look();
        assertEquals(before, replicas());
        report(Report.local(100, "/cache"));
        lead();
        look();
        assertEquals(0, waiting());
    }

    @Test
    void aNodeThatAsksIsAnsweredOnce() throws InterruptedException {
        pod("u1", "train", 2, "u1/x");
        look();
        report(Report.asking(new DatasetReplica.Question("7", "key"), Optional.empty()));
        look();
        assertEquals(
                "7",
                Optional.ofNullable(asked.poll(20, TimeUnit.SECONDS))
                        .orElseThrow()
                        .request());
        while (replicas().stream().anyMatch(replica -> replica.order().access().isEmpty())) {
            look(); // the other node asked the same
        }
        int answered = asked.size();
        look();
        assertEquals(answered, asked.size());
    }

    @Test
    void aDatasetThatIsDeclaredNoMoreIsOrderedNoMore() {
        pod("u1", "train", 2, "u1/x");
        look();
        grants = Grants.NONE;
        look();
        assertEquals(List.of(), replicas());
        assertEquals(1, waiting());
        assertEquals(List.of("DatasetNotReadable", "DatasetWarming"), told());
        grants = declared(VOLUME, "u1");
        look();
        assertEquals(2, replicas().size());
    }

    @Test
    void aReplicaOfTheVolumeThatHadTheNameBeforeOpensNoGate() {
        makeWarmup();
        look();
        report(Report.local(100, "/cache"));
        grants = declared(ANOTHER, "u1");
        pod("u1", "train", 2, "u1/x");
        look();
        assertEquals(1, waiting());
        assertEquals("0 of 1", warmed());
        look();
        report(Report.local(100, "/cache"));
        look();
        assertEquals(0, waiting());
        assertTrue(
                replicas().stream().allMatch(replica -> replica.order().volume().equals(ANOTHER)));
    }

    @Test
    void aNodeThatIsGoneIsForgotten() {
        pod("u1", "train", 2, "u1/x");
        look();
        started.orElseThrow().admin().raw("/api/v1/nodes/node-1", "DELETE", "{}");
        later = Duration.ofSeconds(11); // cached data about nodes may be 10 s old
        look();
        assertEquals(
                List.of("node-2"),
                replicas().stream().map(replica -> replica.order().node()).toList());
    }

    @Test
    void aNamespaceThatMayNotReadItTakesNoGpu() {
        namespace("u2");
        pod("u2", "train", 2, "u1/x");
        look();
        look();
        assertEquals(1, waiting());
        assertEquals(List.of(), replicas());
        assertEquals(1, items("/api/v1/namespaces/u2/events").count());
    }

    @Test
    void nobodyWaitsForEver() {
        pod("u1", "train", 2, "u1/x");
        look();
        later = Duration.ofSeconds(601);
        look();
        assertEquals(0, waiting());
        assertEquals(List.of("DatasetNotWarm", "DatasetWarming"), told());
    }

    private void makeWarmup() {
        make(WARMUPS, """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "DatasetWarmup", "metadata": {"name": "w"},
                 "spec": {"dataset": "u1/x", "nodeSelector": {"kubernetes.io/hostname": "host-node-2"}}}
                """);
    }

    private String warmed() {
        JsonObject status = get(WARMUPS + "/w").getAsJsonObject("status");
        return status.get("local") + " of " + status.get("nodes");
    }

    @Test
    void whatIsWantedAheadIsOrderedWithoutAPod() {
        makeWarmup();
        look();
        assertEquals(
                List.of("node-2"),
                replicas().stream().map(replica -> replica.order().node()).toList());
        report(Report.local(100, "/cache"));
        look();
        assertEquals("1 of 1", warmed());
    }

    /// Forty such pods exceed the limit of a fully buffered reply; other pods must not wait for them.
    @Test
    void largePodsHoldUpNobody() {
        for (int index = 0; index < 40; index++) {
            largePod("large-" + index, "x".repeat(250_000), 0);
        }
        pod("u1", "train", 1, "u1/x");
        look();
        assertEquals(41, waiting());
        report(Report.local(100, "/cache"));
        look();
        assertEquals(0, waiting());
    }

    @Test
    void aPodWithTooLongRulesIsNotWarmedFor() {
        largePod("large", "", 3_000);
        look();
        assertEquals(0, waiting());
        assertEquals(List.of(), replicas());
    }

    /// Each costs a tenant little, but together they would exceed a controller's memory.
    @Test
    void manyLongPodsAreLetGoAndTheUsualOnesWarmedFor() {
        for (int index = 0; index < 100; index++) {
            largePod("long-" + index, "", 150); // more than the limit for a pod where there are many
        }
        for (int index = 0; index < 20; index++) {
            pod("u1", "usual-" + index, 1, "u1/x");
        }
        look();
        assertTrue(waiting() >= 20 && waiting() < 120, waiting() + " are waiting");
        assertTrue(items("/api/v1/namespaces/u1/pods")
                .filter(pod ->
                        JsonParts.text(pod, "metadata", "name").orElse("").startsWith("usual-"))
                .allMatch(pod -> JsonParts.each(pod, "spec", "schedulingGates").count() == 1));
    }

    /// Checks the figure in docs/how-to/gpu-nodes.md.
    @Test
    void fiveHundredPodsCostTheServerThreeRequestsEach() {
        for (int index = 0; index < 500; index++) {
            pod("u1", "train-" + index, 1, "u1/x");
        }
        long before = server.requests();
        look();
        long first = server.requests() - before;
        // 2 orders, an event per pod, and the lists, which a controller with a running watch does not need
        assertTrue(first <= 520, first + " requests of the first look");
        report(Report.local(100, "/cache"));
        before = server.requests();
        look();
        long second = server.requests() - before;
        assertTrue(second <= 1010, second + " requests of the look that lets them go");
        assertEquals(0, waiting());
    }
}

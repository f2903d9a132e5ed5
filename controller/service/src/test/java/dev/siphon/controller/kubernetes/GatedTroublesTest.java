package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.warm.GateMetrics;
import dev.siphon.controller.warm.GateSettings;
import dev.siphon.controller.warm.ReplicaProgress;
import dev.siphon.controller.warm.WarmupController;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What one pod or its PVCs can do to others at the gate.
@Timeout(120)
final class GatedTroublesTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final VolumeId.DatasetVolume VOLUME = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789abcdef".repeat(3).substring(0, 40), Optional.empty(), "/datasets/x");
    private static final Grants GRANTS =
            new Grants(Map.of(), Map.of("u1.x", new Grants.Shared(VOLUME, false, new TreeSet<>(List.of("u1")))));

    private final InMemoryApiServer server = new InMemoryApiServer();
    private TestCluster cluster;
    private KubernetesAdapter adapter;
    private WarmupController warmupController;

    /// In some tests a request moves it too.
    private final AtomicInteger secondsLater = new AtomicInteger();

    @BeforeEach
    void start(@TempDir Path folder) {
        cluster = TestCluster.inMemory(folder, server);
        make("/api/v1/namespaces", """
                {"metadata": {"name": "u1"}}
                """);
        List.of("node-1", "node-2").forEach(node -> make("/api/v1/nodes", """
                {"metadata": {"name": "%s"},
                 "status": {"allocatable": {"pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]}}
                """.formatted(node)));
        lead();
    }

    /// Starts a new leader.
    private void lead() {
        adapter = cluster.adapter();
        InstantSource clock = () -> Instant.now().plusSeconds(secondsLater.get());
        warmupController = new WarmupController(
                adapter.warming(),
                new GateSettings(Duration.ofMinutes(10), 2),
                () -> GRANTS,
                (question, _) -> new DatasetAccess.Refused(question.request(), new DriverException.InUse("not asked")),
                new GateMetrics(new PrometheusRegistry()),
                new ReplicaProgress(),
                clock);
    }

    private void stopLeading() {
        warmupController.close();
        adapter.close();
    }

    @AfterEach
    void stop() {
        stopLeading();
        cluster.close();
    }

    private void make(String collection, String object) {
        var _ = cluster.admin().raw(collection, "POST", object);
    }

    /// @param claims each with a volume
    private void pod(String name, List<String> claims) {
        String volumes = claims.stream()
                .map("{\"persistentVolumeClaim\":{\"claimName\":\"%s\"}}"::formatted)
                .collect(Collectors.joining(","));
        make("/api/v1/namespaces/u1/pods", """
                {"metadata": {"name": "%s", "namespace": "u1"},
                 "spec": {"schedulingGates": [{"name": "siphon.dev/dataset"}], "containers": [{}], "volumes": [%s]}}
                """.formatted(name, volumes));
    }

    private void podOfDataset() {
        make("/api/v1/namespaces/u1/pods", """
                {"metadata": {"name": "reader", "namespace": "u1"},
                 "spec": {"schedulingGates": [{"name": "siphon.dev/dataset"}], "containers": [{}],
                          "volumes": [{"name": "data",
                            "csi": {"driver": "cephfs.siphon.dev", "volumeAttributes": {"dataset": "u1/x"}}}]}}
                """);
    }

    private void claim(String name, String dataset) {
        make("/api/v1/namespaces/u1/persistentvolumeclaims", """
                {"metadata": {"name": "%s", "namespace": "u1", "annotations": {"siphon.dev/dataset": "%s"}}, "spec": {}}
                """.formatted(name, dataset));
    }

    private void refuse(Predicate<String> requests) {
        server.refuse(request -> requests.test(request) ? OptionalInt.of(500) : OptionalInt.empty());
    }

    private void look() {
        warmupController.reconcile();
    }

    /// Whether a reconciliation is without failures: what failed is not retried at once.
    private boolean isAllDone() {
        try {
            look();
            return true;
        } catch (DriverException.BackendUnavailable notYet) {
            return false;
        }
    }

    private List<String> waiting() {
        return adapter.warming().gated(Instant.now()).stream()
                .map(pod -> pod.name())
                .sorted()
                .toList();
    }

    private static boolean isForClaims(String request) {
        return request.equals("GET /api/v1/persistentvolumeclaims");
    }

    /// For example a pod as large as etcd allows.
    @Test
    void aPodThatCannotBeChangedKeepsNoOther() {
        IntStream.range(0, 40).forEach(index -> pod("train-" + index, List.of()));
        refuse("PATCH /api/v1/namespaces/u1/pods/train-7"::equals);
        assertThrows(DriverException.BackendUnavailable.class, this::look);
        assertEquals(List.of("train-7"), waiting());
        refuse(_ -> false);
        CephLab.await(SOON, this::isAllDone);
        assertEquals(List.of(), waiting());
    }

    @Test
    void aNodeThatCannotBeToldKeepsNoOtherAndNoPod() {
        podOfDataset();
        pod("other", List.of());
        AtomicInteger orders = new AtomicInteger();
        refuse(request ->
                request.startsWith("POST") && request.endsWith("/datasetreplicas") && orders.getAndIncrement() == 0);
        assertThrows(DriverException.BackendUnavailable.class, this::look);
        assertEquals(1, adapter.warming().replicas().size());
        assertEquals(List.of("reader"), waiting());
        CephLab.await(SOON, this::isAllDone);
        assertEquals(2, adapter.warming().replicas().size());
    }

    @Test
    void aClaimThatComesLaterIsSeenWithoutAQuestion() {
        claim("c", "u1/x");
        pod("train", List.of("c", "missing"));
        BackgroundTasks tasks = new BackgroundTasks();
        var _ = warmupController.start(tasks);
        CephLab.await(
                SOON, () -> cluster.admin().raw("/api/v1/namespaces/u1/events").contains("missing"));
        claim("missing", "u1/x");
        CephLab.await(SOON, () -> adapter.warming().replicas().size() == 2);
        assertEquals(Map.of(), tasks.failures());
    }

    @Test
    void aPodOfVeryManyClaimsIsWarmedFor() {
        List<String> claims =
                IntStream.range(0, 100).mapToObj(index -> "c" + index).toList();
        claims.forEach(name -> claim(name, "u1/x"));
        pod("train", claims);
        look();
        assertEquals(2, adapter.warming().replicas().size());
        assertEquals(List.of("train"), waiting());
    }

    /// Pods without claims do not wait at all.
    @Test
    void nobodyWaitsForEverForClaimsThatCannotBeRead() {
        claim("c", "u1/x");
        pod("a", List.of("c"));
        pod("b", List.of());
        podOfDataset();
        refuse(GatedTroublesTest::isForClaims);
        assertThrows(DriverException.BackendUnavailable.class, this::look);
        assertEquals(List.of("a", "reader"), waiting());
        assertEquals(2, adapter.warming().replicas().size(), "of the one that names its dataset itself");
        secondsLater.set(601);
        assertThrows(DriverException.BackendUnavailable.class, this::look);
        assertEquals(List.of(), waiting());
    }

    /// A new leader does not know yet what any pod reads.
    @Test
    void whatWasWantedStaysSoUntilItIsKnownWhatPodsRead() {
        claim("c", "u1/x");
        pod("train", List.of("c"));
        look();
        stopLeading();
        lead();
        refuse(GatedTroublesTest::isForClaims);
        assertThrows(DriverException.BackendUnavailable.class, this::look);
        assertTrue(adapter.warming().replicas().stream()
                .allMatch(replica -> replica.order().wanted()));
    }
}

package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.warm.GateSettings;
import dev.siphon.controller.warm.ReplicaProgress;
import dev.siphon.controller.warm.Warming;
import dev.siphon.controller.warm.WarmingMetrics;
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

/// What one pod, or its PVCs, may do to others at the gate.
@Timeout(120)
final class GatedTroublesTest {
    private static final VolumeId.Dataset VOLUME = new VolumeId.Dataset(
            "lab", "cephfs", "0123456789abcdef".repeat(3).substring(0, 40), Optional.empty(), "/datasets/x");
    private static final Grants GRANTS =
            new Grants(Map.of(), Map.of("u1.x", new Grants.Shared(VOLUME, false, new TreeSet<>(List.of("u1")))));

    private final InMemoryApiServer server = new InMemoryApiServer();
    private TestCluster cluster;
    private KubernetesAdapter adapter;
    private Warming warming;

    /// A request moves it too, in some tests.
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

    /// As a controller does that leads from now on.
    private void lead() {
        adapter = cluster.adapter();
        InstantSource clock = () -> Instant.now().plusSeconds(secondsLater.get());
        warming = new Warming(
                adapter.warming(),
                new GateSettings(Duration.ofMinutes(10), 2),
                () -> GRANTS,
                (question, _) -> new DatasetAccess.Refused(question.request(), new DriverException.InUse("not asked")),
                new WarmingMetrics(new PrometheusRegistry()),
                new ReplicaProgress(),
                clock);
    }

    private void stopLeading() {
        warming.close();
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

    /// @param claims of each a volume
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
        warming.look();
    }

    private List<String> waiting() {
        return adapter.warming().gated(Instant.now()).stream()
                .map(pod -> pod.name())
                .sorted()
                .toList();
    }

    private long requestsOfALook() {
        long before = server.requests();
        look();
        return server.requests() - before;
    }

    private static String claimOf(String request) {
        return request.replaceFirst("^GET .*/persistentvolumeclaims/", "");
    }

    private static boolean isOfClaim(String request) {
        return !claimOf(request).equals(request);
    }

    /// As of one that is as large as etcd takes.
    @Test
    void aPodThatCannotBeChangedKeepsNoOther() {
        IntStream.range(0, 40).forEach(index -> pod("train-" + index, List.of()));
        refuse("PATCH /api/v1/namespaces/u1/pods/train-7"::equals);
        assertThrows(DriverException.BackendUnavailable.class, this::look);
        assertEquals(List.of("train-7"), waiting());
        refuse(_ -> false);
        look();
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
        look();
        assertEquals(2, adapter.warming().replicas().size());
    }

    @Test
    void aClaimIsAskedForOnceInALook() {
        claim("c", "u1/x");
        List<String> claims = IntStream.rangeClosed(1, 100)
                .mapToObj(index -> index < 100 ? "c" : "missing")
                .toList();
        IntStream.range(0, 20).forEach(index -> pod("train-" + index, claims));
        long first = requestsOfALook();
        assertTrue(first <= 5 + 2 + 20, first + " requests: lists, two claims, an event for each pod");
        secondsLater.addAndGet(2);
        assertEquals(5 + 1, requestsOfALook(), "the lists, and the one that is missing");
        assertEquals(5, requestsOfALook(), "after a pause only");
        claim("missing", "u1/x");
        secondsLater.addAndGet(3);
        look();
        assertEquals(2, adapter.warming().replicas().size());
    }

    @Test
    void aPodOfVeryManyClaimsIsNotWarmedFor() {
        pod("train", IntStream.range(0, 33).mapToObj(index -> "c" + index).toList());
        AtomicInteger asked = new AtomicInteger();
        refuse(request -> isOfClaim(request) && asked.incrementAndGet() > 0);
        look();
        assertEquals(0, asked.get());
        assertEquals(List.of(), waiting());
        String told = cluster.admin().raw("/api/v1/namespaces/u1/events");
        assertTrue(told.contains("volumes of 33 PVCs, of which 32 at most are looked at"), told);
    }

    /// And nobody else waits for it at all.
    @Test
    void nobodyWaitsForEverForAClaimThatCannotBeRead() {
        claim("good", "u1/x");
        claim("bad", "u1/x");
        pod("a-bad", List.of("bad"));
        pod("b-good", List.of("good"));
        pod("c-none", List.of());
        refuse(request -> claimOf(request).equals("bad"));
        assertThrows(DriverException.BackendUnavailable.class, this::look);
        assertEquals(List.of("a-bad", "b-good"), waiting());
        assertEquals(2, adapter.warming().replicas().size(), "of the good one");
        secondsLater.set(601);
        assertThrows(DriverException.BackendUnavailable.class, this::look);
        assertEquals(List.of(), waiting());
    }

    @Test
    void nobodyWaitsForEverWhereClaimsTakeTooLong() {
        for (int index = 0; index < 3; index++) {
            claim("c" + index, "u1/x");
            pod("train-" + index, List.of("c" + index));
        }
        AtomicInteger asked = new AtomicInteger();
        refuse(request -> {
            if (isOfClaim(request)) {
                asked.incrementAndGet();
                secondsLater.addAndGet(6);
            }
            return false;
        });
        look();
        assertEquals(1, asked.get(), "there is no time for another in this look");
        look();
        assertEquals(2, asked.get(), "another one's");
        secondsLater.set(601);
        pod("train-3", List.of("c3"));
        refuse(request -> {
            secondsLater.addAndGet(6);
            return isOfClaim(request);
        });
        assertThrows(DriverException.BackendUnavailable.class, this::look);
        assertEquals(List.of(), waiting());
    }

    /// A controller that leads from now on knows of no pod what it reads.
    @Test
    void whatWasWantedStaysSoUntilItIsKnownWhatPodsRead() {
        claim("c", "u1/x");
        pod("train", List.of("c"));
        look();
        stopLeading();
        lead();
        refuse(GatedTroublesTest::isOfClaim);
        assertThrows(DriverException.BackendUnavailable.class, this::look);
        assertTrue(adapter.warming().replicas().stream()
                .allMatch(replica -> replica.order().wanted()));
    }
}

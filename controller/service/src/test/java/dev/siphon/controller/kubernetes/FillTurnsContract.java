package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.warm.OrderedReplica;
import dev.siphon.controller.warm.WarmupCluster;
import dev.siphon.controller.warm.WarmupController;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetReplica.Order;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.DatasetReplica.Turn;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Three datasets are filled on two nodes, one fill at a time, over an API server. The test plays the nodes, which ask
/// for their turns and fill only while they have them. In the middle another controller leads.
abstract class FillTurnsContract {
    private static final List<String> NODES = List.of("turns-1", "turns-2");
    private static final List<String> DATASETS = List.of("u1.d-0", "u1.d-1", "u1.d-2");
    private static final int FILLS = NODES.size() * DATASETS.size();
    private static final int STEP = 25;
    private static final VolumeId.DatasetVolume VOLUME =
            new VolumeId.DatasetVolume("lab", "cephfs", "a".repeat(40), Optional.empty(), "/datasets/x");

    private final BackgroundTasks tasks = new BackgroundTasks();
    private final Map<String, Report> reports = new HashMap<>();

    abstract TestCluster cluster();

    private GateObjects objects() {
        return new GateObjects(cluster());
    }

    @BeforeEach
    void prepare() {
        NODES.forEach(objects()::node);
        NODES.forEach(objects()::awaitNode);
        DATASETS.forEach(dataset -> objects().pod(dataset.replace("u1.", "reads-"), dataset.replace('.', '/')));
    }

    @AfterEach
    void removeNodes() {
        String pods = "/api/v1/namespaces/" + cluster().access().namespace() + "/pods/";
        for (String dataset : DATASETS) {
            String pod = pods + dataset.replace("u1.", "reads-");
            var _ = cluster().admin().raw(pod + "?gracePeriodSeconds=0", "DELETE", "{}");
        }
        NODES.forEach(objects()::removeNode);
        objects().orders().keySet().forEach(this::delete);
    }

    private void delete(String order) {
        var _ = cluster().admin().raw("/" + ReplicaObjects.PATH + "/" + order, "DELETE", "{}");
    }

    private WarmupController lead(KubernetesAdapter adapter) {
        return objects().warming(adapter, DATASETS, 1).start(tasks);
    }

    private long running() {
        return reports.values().stream()
                .filter(report -> report.percent() > 0 && report.percent() < 100)
                .count();
    }

    private long whole() {
        return reports.values().stream()
                .filter(report -> report.percent() == 100)
                .count();
    }

    /// What both nodes do next: each fill that has its turn proceeds by a quarter.
    private void work() {
        Map<String, Order> orders = objects().orders();
        orders.forEach((name, order) -> {
            Report last = reports.getOrDefault(name, Report.queued(0, 0));
            boolean isGiven = order.turn().filter(turn -> turn.isGiven()).isPresent();
            int percent = last.percent();
            Report next = percent == 100 || !isGiven
                    ? last
                    : percent == 100 - STEP ? Report.local(1, "/cache") : Report.filling(percent + STEP, 1, "/cache");
            if (!next.equals(reports.put(name, next))) {
                objects().report(name, next);
            }
            assertTrue(running() <= 1, reports::toString);
        });
        long given = orders.values().stream()
                .filter(order -> order.turn().filter(turn -> turn.isGiven()).isPresent())
                .count();
        assertTrue(given <= 1, orders::toString);
    }

    private void workUntil(int count) {
        CephLab.await(Duration.ofMinutes(2), () -> {
            work();
            return whole() >= count;
        });
    }

    @Test
    void aNodeGetsItsTurnAndLosesIt() {
        String name = "u1.d-0.turns-1-01234567";
        Instant begin = Instant.parse("2026-01-01T00:00:00Z");
        Optional<Turn> turn = Optional.of(new Turn(false, 3, 40, begin, begin.plusMillis(1_500)));
        Order order = new Order("u1.d-0", "turns-1", VOLUME, false, Optional.empty());
        try (KubernetesAdapter adapter = cluster().adapter()) {
            WarmupCluster warming = adapter.warming();
            warming.writeOrder(name, order);
            warming.setTurn(replica(warming, name).orElseThrow(), turn);
            objects().report(name, Report.queued(40, 3));
            OrderedReplica queued = replica(warming, name).orElseThrow();
            assertEquals(order.with(turn), queued.order());
            assertEquals(Optional.of(Report.queued(40, 3)), queued.report());
            assertEquals("waits for its turn: 3 before it on node turns-1", queued.progress());
            warming.setTurn(queued, Optional.empty());
            assertEquals(order, replica(warming, name).orElseThrow().order());
            warming.forget(queued);
            warming.setTurn(queued, turn);
            assertEquals(Optional.empty(), replica(warming, name), "the order is gone");
        }
    }

    private static Optional<OrderedReplica> replica(WarmupCluster warming, String name) {
        return warming.replicas().stream()
                .filter(each -> each.name().equals(name))
                .findFirst();
    }

    @Test
    void oneFillRunsAtAnyMomentAndAllEnd() {
        try (KubernetesAdapter adapter = cluster().adapter();
                WarmupController _ = lead(adapter)) {
            workUntil(FILLS / 2);
        }
        try (KubernetesAdapter adapter = cluster().adapter();
                WarmupController _ = lead(adapter)) {
            workUntil(FILLS);
            CephLab.await(
                    Duration.ofMinutes(1),
                    () -> DATASETS.stream().allMatch(dataset -> objects().isOpen(dataset.replace("u1.", "reads-"))));
        }
        assertEquals(FILLS, reports.size());
        assertEquals(Map.of(), tasks.failures());
    }

    /// The order is made again, since its pod still waits; it has no turn then.
    @Test
    void theTurnOfAnOrderThatIsDeletedIsFreeAtOnce() {
        try (KubernetesAdapter adapter = cluster().adapter();
                WarmupController _ = lead(adapter)) {
            CephLab.await(Duration.ofMinutes(1), () -> objects().orders().size() == FILLS);
            objects().orders().keySet().forEach(name -> objects().report(name, Report.queued(0, 0)));
            CephLab.await(Duration.ofMinutes(1), () -> given().size() == 1);
            String first = given().getFirst();
            delete(first);
            CephLab.await(Duration.ofSeconds(10), () -> given().stream().anyMatch(name -> !name.equals(first)));
            CephLab.await(Duration.ofMinutes(1), () -> objects().orders().size() == FILLS);
            String second = given().getFirst();
            objects().report(second, Report.failed("no space"));
            CephLab.await(Duration.ofSeconds(10), () -> given().size() == 1 && !given().contains(second));
        }
    }

    /// Without a limit, fills have no turns. Whoever leads next with one counts those that run.
    @Test
    void onlyALeaderThatDidNotSeeItBeginCountsAFillWithoutATurn() {
        try (KubernetesAdapter adapter = cluster().adapter();
                WarmupController _ = objects().warming(adapter, DATASETS, 0).start(tasks)) {
            CephLab.await(Duration.ofMinutes(1), () -> objects().orders().size() == FILLS);
        }
        List<String> names = List.copyOf(objects().orders().keySet());
        objects().report(names.getLast(), Report.filling(STEP, 1, "/cache"));
        try (KubernetesAdapter adapter = cluster().adapter();
                WarmupController _ = lead(adapter)) {
            CephLab.await(Duration.ofMinutes(1), () -> given().equals(List.of(names.getLast())));
            objects().report(names.getLast(), Report.local(1, "/cache"));
            CephLab.await(Duration.ofMinutes(1), () -> given().isEmpty());
            objects().report(names.getFirst(), Report.filling(STEP, 1, "/cache"));
            CephLab.await(
                    Duration.ofMinutes(1),
                    () -> Optional.ofNullable(objects().orders().get(names.getFirst()))
                            .flatMap(Order::turn)
                            .isPresent());
            assertEquals(List.of(), given());
            objects().report(names.getFirst(), Report.queued(STEP, 0));
            CephLab.await(Duration.ofMinutes(1), () -> given().equals(List.of(names.getFirst())));
        }
    }

    /// Returns the names of the orders that have a turn.
    private List<String> given() {
        return objects().orders().entrySet().stream()
                .filter(each -> each.getValue().turn().filter(Turn::isGiven).isPresent())
                .map(Map.Entry::getKey)
                .toList();
    }
}

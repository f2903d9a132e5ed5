package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.warm.DataReadiness;
import dev.siphon.controller.warm.WarmupController;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// 500 pods at the gate read 200 datasets on 50 nodes. Measures and prints the load on an API server, and how soon
/// a pod proceeds when its dataset is complete.
@Tag("kubernetes")
@Timeout(900)
final class GateLoadIT {
    private static final int PODS = 500;
    private static final int DATASETS = 200;
    private static final int NODES = 50;

    /// Siphon's own requests in steady state.
    private static final int MOST_REQUESTS_A_MINUTE = 60;

    private static final Duration SOON = Duration.ofSeconds(1);

    private final BackgroundTasks tasks = new BackgroundTasks();
    private final ExecutorService heart = Executors.newVirtualThreadPerTaskExecutor();
    private final Map<String, Long> opened = new ConcurrentHashMap<>();
    private final LinkedBlockingQueue<String> openings = new LinkedBlockingQueue<>();
    private TestCluster cluster;
    private GateObjects objects;
    private KubernetesAdapter adapter;
    private BackgroundTasks.Task beating;

    @BeforeEach
    void start(@TempDir Path folder) throws Exception {
        cluster = KubernetesLab.start(folder);
        KubernetesLab.serveReplicas(cluster.admin());
        objects = new GateObjects(cluster);
        adapter = cluster.adapter();
        inParallel(NODES, index -> objects.node(node(index)));
        beating = tasks.every(
                "heartbeats",
                Duration.ofSeconds(5),
                Duration.ofSeconds(10),
                () -> inParallel(NODES, index -> objects.beat(node(index))));
        inParallel(PODS, index -> objects.pod("train-" + index, "u1/d-" + index % DATASETS));
    }

    @AfterEach
    void stop() {
        beating.close();
        adapter.close();
        KubernetesLab.endReplicas(cluster.admin());
        inParallel(NODES, index -> objects.removeNode(node(index)));
        heart.shutdownNow();
        cluster.close();
    }

    private interface Each {
        void of(int index);
    }

    private void inParallel(int count, Each each) {
        List<? extends java.util.concurrent.Future<?>> all = IntStream.range(0, count)
                .mapToObj(index -> heart.submit(() -> each.of(index)))
                .toList();
        for (var one : all) {
            try {
                one.get();
            } catch (InterruptedException | java.util.concurrent.ExecutionException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static String node(int index) {
        return "load-" + index;
    }

    private static String dataset(int index) {
        return "u1.d-" + index;
    }

    private static String datasetOf(String pod) {
        return dataset(Integer.parseInt(pod.substring("train-".length())) % DATASETS);
    }

    /// Returns the number of pods that read the dataset.
    private static long readers(String dataset) {
        return IntStream.range(0, PODS)
                .filter(pod -> dataset(pod % DATASETS).equals(dataset))
                .count();
    }

    /// Returns the API server's count of requests for what the gate reads and writes.
    private long requests() {
        return cluster.admin()
                .raw("/metrics")
                .lines()
                .filter(line -> line.startsWith("apiserver_request_total{"))
                .filter(line -> line.matches(".*resource=\"(pods|nodes|datasetreplicas|datasetwarmups|events"
                        + "|persistentvolumes|persistentvolumeclaims)\".*"))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    private long requestsOfAMinute() throws InterruptedException {
        long before = requests();
        assertEquals(Optional.empty(), Optional.ofNullable(openings.poll(1, TimeUnit.MINUTES)), "nothing is whole");
        return requests() - before;
    }

    /// Waits until nothing is left to write: at most ten pods' conditions are written a second.
    private void awaitConditions(String text) throws InterruptedException {
        long end = System.nanoTime() + Duration.ofMinutes(4).toNanos();
        while (told(text) < PODS) {
            assertTrue(System.nanoTime() < end, "not all conditions are written");
            assertEquals(Optional.empty(), Optional.ofNullable(openings.poll(1, TimeUnit.SECONDS)));
        }
    }

    /// Returns how many pods' conditions contain the text.
    private long told(String text) {
        return cluster.admin().pods().inNamespace(cluster.access().namespace()).list().getItems().stream()
                .flatMap(pod -> pod.getStatus().getConditions().stream())
                .filter(condition -> DataReadiness.CONDITION.equals(condition.getType()))
                .filter(condition -> condition.getMessage().contains(text))
                .count();
    }

    private Watch watchOpenings() {
        return cluster.admin().pods().inNamespace(cluster.access().namespace()).watch(new Watcher<Pod>() {
            @Override
            public void eventReceived(Action action, Pod pod) {
                if (pod.getSpec().getSchedulingGates().isEmpty()
                        && opened.putIfAbsent(pod.getMetadata().getName(), System.nanoTime()) == null) {
                    openings.add(pod.getMetadata().getName());
                }
            }

            @Override
            public void onClose(WatcherException cause) {}
        });
    }

    @Test
    void gatesOpenSoonAtFewRequests() throws Exception {
        long others = requestsOfAMinute();
        List<String> datasets =
                IntStream.range(0, DATASETS).mapToObj(GateLoadIT::dataset).toList();
        try (WarmupController _ = objects.warming(adapter, datasets).start(tasks);
                Watch _ = watchOpenings()) {
            long end = System.nanoTime() + Duration.ofMinutes(3).toNanos();
            while (objects.replicas().size() < DATASETS) {
                assertTrue(System.nanoTime() < end, "not all is ordered");
                assertEquals(Optional.empty(), Optional.ofNullable(openings.poll(1, TimeUnit.SECONDS)));
            }
            objects.replicas()
                    .values()
                    .forEach(names -> names.forEach(name -> objects.report(name, Report.filling(1, 100, "/cache"))));
            awaitConditions("1 % on node");
            long steady = requestsOfAMinute() - others;
            long begun = requests();
            Map<String, Long> whole = new TreeMap<>();
            Map<String, List<String>> replicas = objects.replicas();
            for (Map.Entry<String, List<String>> each : replicas.entrySet()) {
                each.getValue().forEach(name -> objects.report(name, Report.local(100, "/cache")));
                whole.put(each.getKey(), System.nanoTime());
                for (long pod = 0; pod < readers(each.getKey()); pod++) {
                    assertTrue(
                            Optional.ofNullable(openings.poll(60, TimeUnit.SECONDS))
                                    .isPresent(),
                            opened.size() + " are open");
                }
            }
            long during = requests()
                    - begun
                    - replicas.values().stream().mapToInt(List::size).sum();
            List<Long> delays = opened.entrySet().stream()
                    .map(each -> each.getValue() - whole.getOrDefault(datasetOf(each.getKey()), 0L))
                    .map(nanos -> nanos / 1_000_000)
                    .sorted()
                    .toList();
            System.out.printf(
                    "gate load: %d requests in a steady minute (others: %d), %.2f for each pod that goes; it goes after"
                            + " %d ms (p50), %d ms (p99), %d ms (longest)%n",
                    steady,
                    others,
                    during / (double) PODS,
                    delays.get(PODS / 2),
                    delays.get(PODS * 99 / 100),
                    delays.getLast());
            assertTrue(steady <= MOST_REQUESTS_A_MINUTE, steady + " requests a minute");
            assertTrue(delays.get(PODS * 99 / 100) <= SOON.toMillis(), delays.toString());
            assertEquals(Map.of(), tasks.failures());
        }
    }
}

package dev.siphon.node.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.MountedDatasets.Source;
import dev.siphon.node.mount.TargetPath;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.pod.PodHealth;
import dev.siphon.node.pod.PublishedPods;
import dev.siphon.node.topology.RecordedMachine;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class DataWaitsTest {
    private static final Path CACHE = Path.of("/mnt/nvme0/siphon");
    private static final String DIGEST = "0123456789abcdef".repeat(4);
    private static final String VOLUME = "volume";
    private static final Source REMOTE = new Source(DIGEST, Optional.empty(), Optional.of(Duration.ofMillis(41_960)));
    private static final Source LOCAL = new Source(DIGEST, Optional.of(CACHE), Optional.of(Duration.ofMillis(41_960)));
    private static final HeldDevice GPU = new HeldDevice("nvidia.com/gpu", List.of("0000:43:00.0"), Set.of(0));

    @TempDir
    private Path folder = Path.of("");

    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final BlockingCalls calls = new BlockingCalls();
    private final PrometheusRegistry metrics = new PrometheusRegistry();
    private Optional<PodHealth> health = Optional.empty();
    private Optional<DataWaits> made = Optional.empty();

    @BeforeEach
    void make() {
        PodHealth pods = new PodHealth(
                new PublishedPods(folder.resolve("pods")),
                (pod, event) ->
                        told.add(pod.name() + " " + event.type().text() + " " + event.reason() + " " + event.message()),
                metrics);
        health = Optional.of(pods);
        Machine machine = new Machine(RecordedMachine.in(folder, "two-sockets"), List.of(CACHE), calls);
        made = Optional.of(new DataWaits(new NearestCaches(DataWaitsTest::devices, machine), pods, metrics));
    }

    @AfterEach
    void close() {
        health.orElseThrow().close();
        calls.close();
    }

    private static PodDevices.Answer devices(Pod pod) {
        return switch (pod.name()) {
            case "cpu" -> new PodDevices.Answer.Held(List.of(new HeldDevice("rdma/hca", List.of("mlx5_0"), Set.of(0))));
            case "unknown" -> new PodDevices.Answer.Unknown("the kubelet hangs");
            default -> new PodDevices.Answer.Held(List.of(GPU));
        };
    }

    private DataWaits waits() {
        return made.orElseThrow();
    }

    private static TargetPath target(String pod) {
        return TargetPath.parse("target_path", "/pods/" + pod + "/mount");
    }

    private void publish(String pod, boolean isFirst, Optional<Source> source) {
        publish(pod, VOLUME, isFirst, source);
    }

    private void publish(String pod, String volume, boolean isFirst, Optional<Source> source) {
        waits().begins(target(pod).text());
        waits().readable(target(pod), volume, new Pod("u1", pod, "1"), isFirst, () -> source);
    }

    private String next() throws InterruptedException {
        return Optional.ofNullable(told.poll(20, TimeUnit.SECONDS)).orElse("nothing");
    }

    private HistogramSnapshot histogram(String name) {
        return metrics.scrape(name::equals).stream()
                .map(HistogramSnapshot.class::cast)
                .findFirst()
                .orElseThrow();
    }

    private double waited() {
        return observed("siphon_gpu_data_wait_seconds");
    }

    private double observed(String name) {
        return histogram(name).getDataPoints().stream()
                .mapToDouble(HistogramSnapshot.HistogramDataPointSnapshot::getSum)
                .sum();
    }

    @Test
    void aPodIsToldItsWaitItsDiskAndTheEstimate() throws InterruptedException {
        publish("train", true, Optional.of(LOCAL));

        String event = next();
        assertTrue(
                event.matches(
                        "train Normal DatasetWait with its GPUs \\(0000:43:00\\.0\\) the pod waited 0\\.[0-9] s until"
                                + " it could read dataset 0123456789ab; it reads the replica in /mnt/nvme0/siphon, [A-Z]+ from"
                                + " them; estimate: the gate or a warmup spared it up to 42\\.0 s, in which that replica was"
                                + " filled"),
                event);
        assertEquals(41.96, observed("siphon_gpu_data_spared_estimate_seconds"), 0.001);
        assertEquals(
                List.of("local"),
                histogram("siphon_gpu_data_wait_seconds").getDataPoints().stream()
                        .map(point -> point.getLabels().get("source"))
                        .toList());
    }

    /// Without a replica, an earlier fill has spared the pod nothing.
    @Test
    void aPodThatReadsFromCephFsIsToldSo() throws InterruptedException {
        publish("train", true, Optional.of(REMOTE));

        String event = next();
        assertTrue(
                event.endsWith("dataset 0123456789ab; it reads from CephFS until this node has a whole replica"),
                event);
        assertEquals(0, observed("siphon_gpu_data_spared_estimate_seconds"));
    }

    /// Each event comes half a second after its volume, so what was asked for before has waited that long.
    @Test
    void aWaitCountsFromTheFirstRequest() throws InterruptedException {
        waits().begins(VOLUME);
        waits().begins(target("second").text());
        publish("other", "other volume", true, Optional.of(REMOTE));
        assertTrue(next().startsWith("other "));
        double others = waited();
        assertTrue(others < 0.5, () -> "it was published at once: " + others);
        publish("first", VOLUME, true, Optional.of(REMOTE));
        assertTrue(next().startsWith("first "));
        double first = waited() - others;
        assertTrue(first >= 0.5, () -> "since the volume was staged: " + first);
        publish("second", VOLUME, true, Optional.of(REMOTE));
        assertTrue(next().startsWith("second "));
        double second = waited() - first - others;
        assertTrue(second >= 1, () -> "since an attempt that failed: " + second);
        publish("third", VOLUME, true, Optional.of(REMOTE));
        assertTrue(next().startsWith("third "));
        double third = waited() - second - first - others;
        assertTrue(third < 0.5, () -> "it was staged already: " + third);
    }

    /// A replica is switched to after the publish; a pod may end before that is seen.
    @Test
    void whatIsReadIsSeenAfterThePublishOrFromThen() throws InterruptedException {
        for (Optional<Source> later : List.of(Optional.of(LOCAL), Optional.<Source>empty())) {
            AtomicInteger looks = new AtomicInteger();
            waits().begins(target("train").text());
            waits().readable(
                            target("train"),
                            VOLUME,
                            new Pod("u1", "train", "1"),
                            true,
                            () -> looks.getAndIncrement() == 0 ? Optional.of(REMOTE) : later);

            String event = next();
            assertTrue(event.contains(later.isPresent() ? "it reads the replica" : "it reads from CephFS"), event);
        }
    }

    @Test
    void nothingElseIsReported() throws InterruptedException {
        publish("again", false, Optional.of(LOCAL));
        publish("files", true, Optional.empty());
        publish("cpu", true, Optional.of(LOCAL));
        publish("unknown", true, Optional.of(LOCAL));
        publish("train", true, Optional.of(LOCAL));

        assertTrue(next().startsWith("train "));
    }
}

package dev.siphon.node.device;

import dev.siphon.node.mount.MountedDatasets;
import dev.siphon.node.mount.TargetPath;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.pod.PodHealth;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Unit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// Reports, once for each dataset of a pod with GPUs, how long the pod waited until it could read the dataset, where
/// it reads from, and an estimate of what a fill ahead of it spared it.
///
/// The kubelet gives a pod its devices before it asks for its volumes. So the wait counts from the first request for
/// the volume, failed attempts included, to the first success. The pod's own first read is not seen: pods share trees,
/// and the page cache answers without the device.
public final class DataWaits {
    /// The event for people.
    static final String WAITED = "DatasetWait";

    /// No container starts sooner after its volumes are there; a replica that is whole is switched to by then.
    private static final Duration UNTIL_READ = Duration.ofMillis(500);

    /// More than a node's pods; what exceeds it is not reported.
    private static final int MOST = 1_024;

    private static final long IDLE_SECONDS = 5;
    private static final int DIGITS = 12;
    private static final double[] BOUNDS = {0.1, 0.3, 1, 3, 10, 30, 60, 120, 300, 600, 1_800, 3_600};

    private final NearestCaches nearest;
    private final PodHealth pods;
    private final Histogram waited;
    private final Histogram spared;
    private final Map<String, Long> begun = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor teller;

    private record Wait(Pod pod, Duration time) {}

    DataWaits(NearestCaches nearest, PodHealth pods, PrometheusRegistry metrics) {
        this.nearest = nearest;
        this.pods = pods;
        this.waited = Histogram.builder()
                .name("siphon_gpu_data_wait_seconds")
                .help("How long pods with GPUs waited until they could read a dataset, from the first request for the"
                        + " volume, by source: a replica (local), or CephFS (remote).")
                .labelNames("source")
                .unit(Unit.SECONDS)
                .classicUpperBounds(BOUNDS)
                .classicOnly()
                .register(metrics);
        this.spared = Histogram.builder()
                .name("siphon_gpu_data_spared_estimate_seconds")
                .help("Estimate of what the gate or a warmup spared such a pod: how long the replica that it reads took"
                        + " to be filled, at most 15 minutes before.")
                .unit(Unit.SECONDS)
                .classicUpperBounds(BOUNDS)
                .classicOnly()
                .register(metrics);
        this.teller = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("data-waits").factory());
        teller.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        teller.allowCoreThreadTimeOut(true);
    }

    /// Records that the kubelet asks for a volume. A repeat changes nothing.
    ///
    /// @param volume what [#readable] or [#ends] names later: a target path, or the id of a volume that is staged
    public void begins(String volume) {
        if (begun.size() < MOST) {
            begun.putIfAbsent(volume, System.nanoTime());
        }
    }

    /// Records that the kubelet does not want the volume any more.
    public void ends(String volume) {
        begun.remove(volume);
    }

    /// Records that a volume is published, and reports it soon, if the pod has GPUs and the volume shows a dataset.
    ///
    /// @param volume the id of the volume, for the time of its staging
    /// @param isFirst false if the pod had the volume before: nothing is reported
    /// @param look returns where the target's dataset is read from now; empty if it shows none
    public void readable(
            TargetPath target,
            String volume,
            Pod pod,
            boolean isFirst,
            Supplier<Optional<MountedDatasets.Source>> look) {
        Optional<Long> staged = Optional.ofNullable(begun.remove(volume));
        Optional<Long> asked = Optional.ofNullable(begun.remove(target.text()));
        long now = System.nanoTime();
        Optional<MountedDatasets.Source> source = isFirst && asked.isPresent() ? look.get() : Optional.empty();
        if (source.isPresent() && teller.getQueue().size() < MOST) {
            long begin = Math.min(asked.get(), staged.orElse(asked.get()));
            Wait wait = new Wait(pod, Duration.ofNanos(now - begin));
            // the pod may have ended by then
            var _ = teller.schedule(
                    () -> look(wait, look.get().orElse(source.get())), UNTIL_READ.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void look(Wait wait, MountedDatasets.Source source) {
        nearest.gpus(wait.pod()).ifPresent(gpus -> report(wait, source, gpus));
    }

    private void report(Wait wait, MountedDatasets.Source source, NearestCaches.Gpus gpus) {
        Optional<Duration> estimate = source.cache().flatMap(_ -> source.filledAhead());
        waited.labelValues(source.cache().isPresent() ? "local" : "remote").observe(seconds(wait.time()));
        estimate.map(DataWaits::seconds).ifPresent(spared::observe);
        pods.report(
                wait.pod(),
                WAITED,
                "with its GPUs (" + gpus.shown() + ") the pod waited " + shown(wait.time())
                        + " until it could read dataset " + source.digest().substring(0, DIGITS) + "; it reads "
                        + source.cache()
                                .map(cache -> "the replica in " + cache + distance(gpus, cache))
                                .orElse("from CephFS until this node has a whole replica")
                        + estimate.map(took -> "; estimate: the gate or a warmup spared it up to " + shown(took)
                                        + ", in which that replica was filled")
                                .orElse(""));
    }

    private static String distance(NearestCaches.Gpus gpus, Path cache) {
        return gpus.ranking()
                .flatMap(ranking -> ranking.distance(cache))
                .map(distance -> ", " + distance.label() + " from them")
                .orElse("");
    }

    private static double seconds(Duration time) {
        return time.toMillis() / 1e3;
    }

    private static String shown(Duration time) {
        return String.format(Locale.ROOT, "%.1f s", seconds(time));
    }
}

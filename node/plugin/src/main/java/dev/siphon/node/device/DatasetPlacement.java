package dev.siphon.node.device;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.server.Deadlines;
import dev.siphon.node.mount.CachePreference;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.pod.PodHealth;
import dev.siphon.node.topology.CacheRanking;
import dev.siphon.node.topology.DevicePlace;
import dev.siphon.node.topology.Distance;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/// Places datasets near the GPUs of their pods: the step before a dataset is published, and the report after it.
/// `TreeChoice` and `CacheDirectories#place` choose the tree and the directory in between.
public final class DatasetPlacement {
    /// The event that shows users where their pod reads from.
    static final String PLACED = "DatasetPlaced";

    private static final int DIGITS = 12;

    private final NearestCaches nearest;
    private final PodHealth pods;
    private final Counter placed;
    private final Counter moved;
    private final DataWaits waits;

    /// @param pods receives the reports
    public DatasetPlacement(NearestCaches nearest, PodHealth pods, PrometheusRegistry metrics) {
        this.nearest = nearest;
        this.pods = pods;
        this.waits = new DataWaits(nearest, pods, metrics);
        this.placed = Counter.builder()
                .name("siphon_dataset_placements_total")
                .help("Datasets published to pods with GPUs, by the distance of the present or future replica.")
                .labelNames("distance")
                .register(metrics);
        this.moved = Counter.builder()
                .name("siphon_dataset_moves_total")
                .help("Datasets whose replica moves nearer to the GPUs of running pods, by pod and new distance.")
                .labelNames("distance")
                .register(metrics);
    }

    /// Returns the reports of how long pods with GPUs wait for datasets.
    public DataWaits waits() {
        return waits;
    }

    /// Returns which cache directories suit `pod`; takes at most a few seconds.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if there is no ranking and the caller has disconnected: a
    ///     restarted kubelet retries, and then knows the devices
    public CachePreference prefer(VolumeId.DatasetVolume dataset, Pod pod) {
        Optional<CacheRanking> ranking = nearest.of(pod);
        if (ranking.isEmpty() && Deadlines.callerGone()) {
            throw new DriverException.OperationPending(
                    "the caller gave up on publishing dataset " + dataset + "; nothing was done");
        }
        return ranking.<CachePreference>map(CachePreference.NearDevices::new)
                .orElseGet(CachePreference.AnyDirectory::new);
    }

    /// Reports to `pod` where its dataset's replica is or will be.
    ///
    /// @param caches what [#prefer] returned
    /// @param replicaDirectories the directories of which one has or will have it; empty if that does not matter
    public void report(VolumeId.DatasetVolume dataset, Pod pod, CachePreference caches, List<Path> replicaDirectories) {
        if (caches instanceof CachePreference.NearDevices(var ranking) && !replicaDirectories.isEmpty()) {
            placed.labelValues(report(dataset.digest(), pod, ranking, replicaDirectories)
                            .label())
                    .inc();
        }
    }

    /// Reports that the replica for `pod` moves to `home`, because the pod's devices have changed.
    ///
    /// @param digest the dataset's digest
    void moved(String digest, Pod pod, CacheRanking ranking, Path home) {
        moved.labelValues(report(digest, pod, ranking, List.of(home)).label()).inc();
    }

    private Distance report(String digest, Pod pod, CacheRanking ranking, List<Path> replicaDirectories) {
        Distance distance = ranking.distance(replicaDirectories.getFirst()).orElse(Distance.UNKNOWN);
        String gpus = ranking.devices().stream().map(DevicePlace::shown).collect(Collectors.joining(", "));
        boolean near = replicaDirectories.stream().anyMatch(ranking.nearest()::contains);
        pods.report(
                pod,
                PLACED,
                "dataset " + digest.substring(0, DIGITS) + " has its replica in " + joined(replicaDirectories) + ", "
                        + distance.label() + (near ? ", nearest to its GPUs (" : " from its GPUs (") + gpus + ")"
                        + (near ? "" : "; " + joined(ranking.nearest()) + " is nearer, and has no room for one"));
        return distance;
    }

    private static String joined(List<Path> paths) {
        return paths.stream().map(Path::toString).collect(Collectors.joining(" or "));
    }
}

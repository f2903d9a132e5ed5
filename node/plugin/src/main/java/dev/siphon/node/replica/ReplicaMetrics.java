package dev.siphon.node.replica;

import dev.siphon.node.fuse.FuseProgram;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;

/// The metrics of a node's replicas. No label names a dataset; `siphon cache list` lists the datasets.
public final class ReplicaMetrics {
    private ReplicaMetrics() {}

    /// Registers the metrics. A scrape reads the cache directories, never CephFS.
    public static void register(PrometheusRegistry registry, Replicas replicas) {
        ReplicaCounts counts = replicas.counts();
        CounterWithCallback.builder()
                .name("siphon_replica_filled_bytes_total")
                .help("Bytes of datasets written to cache directories.")
                .callback(callback -> callback.call(counts.filledBytes().doubleValue()))
                .register(registry);
        split(
                registry,
                "siphon_replica_fills_total",
                "Attempts to fill a replica: done or failed.",
                "result",
                new Part("done", counts.fills()),
                new Part("failed", counts.failedFills()));
        split(
                registry,
                "siphon_replica_swaps_total",
                "Switches of an attached dataset's backing file.",
                "to",
                new Part("local", counts.swapsToReplica()),
                new Part("remote", counts.swapsToImage()));
        CounterWithCallback.builder()
                .name("siphon_replica_evictions_total")
                .help("Replicas evicted to make room for others, or on demand.")
                .callback(callback -> callback.call(counts.evictions().doubleValue()))
                .register(registry);
        reads(registry, counts.reads());
        replicas(registry, replicas);
        caches(registry, replicas);
    }

    /// One label value of a counter, with its count.
    private record Part(String value, LongAdder count) {}

    private static void split(PrometheusRegistry registry, String name, String help, String label, Part... parts) {
        CounterWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames(label)
                .callback(callback -> {
                    for (Part part : parts) {
                        callback.call(part.count().doubleValue(), part.value());
                    }
                })
                .register(registry);
    }

    private static void reads(PrometheusRegistry registry, DatasetReads reads) {
        CounterWithCallback.builder()
                .name("siphon_dataset_read_bytes_total")
                .help(
                        "Bytes that the devices of attached datasets read, by source: a replica (local), or CephFS (remote)."
                                + " What the page cache serves does not count.")
                .labelNames("source")
                .callback(callback -> {
                    DatasetReads.Totals totals = reads.totals();
                    callback.call((double) totals.local().bytes(), "local");
                    callback.call((double) totals.remote().bytes(), "remote");
                })
                .register(registry);
        CounterWithCallback.builder()
                .name("siphon_dataset_read_seconds_total")
                .help("How long these reads waited for the data; simultaneous reads add up.")
                .labelNames("source")
                .callback(callback -> {
                    DatasetReads.Totals totals = reads.totals();
                    callback.call(totals.local().waited().toMillis() / 1e3, "local");
                    callback.call(totals.remote().waited().toMillis() / 1e3, "remote");
                })
                .register(registry);
    }

    private static void replicas(PrometheusRegistry registry, Replicas replicas) {
        GaugeWithCallback.builder()
                .name("siphon_replicas")
                .help("Replicas by state: complete on a disk (local), being filled, waiting for the turn to be filled"
                        + " (queued), or failed: the last attempt failed and is repeated.")
                .labelNames("state")
                .callback(callback -> {
                    List<ReplicaStatus> all = replicas.list();
                    callback.call(count(all, ReplicaMetrics::isLocal), "local");
                    callback.call(
                            count(
                                    all,
                                    replica -> replica.state() instanceof ReplicaState.Filling
                                            && replica.problem().isEmpty()),
                            "filling");
                    callback.call(count(all, replica -> replica.state() instanceof ReplicaState.Queued), "queued");
                    callback.call(
                            count(
                                    all,
                                    replica -> !isLocal(replica)
                                            && replica.problem().isPresent()),
                            "failed");
                })
                .register(registry);
        GaugeWithCallback.builder()
                .name("siphon_dataset_attachments")
                .help("Attached datasets, by what they are read from: a replica (local), or CephFS (remote).")
                .labelNames("source")
                .callback(callback -> {
                    var places =
                            replicas.attached().stream().map(ImageMount::place).toList();
                    callback.call(of(places, ReadLocation.Local.class), "local");
                    callback.call(of(places, ReadLocation.Remote.class), "remote");
                })
                .register(registry);
        GaugeWithCallback.builder()
                .name("siphon_dataset_trees")
                .help("Trees of attached datasets, by what reads their images: the kernel, or processes (erofsfuse).")
                .labelNames("reader")
                .callback(callback -> {
                    MountTable table = MountTable.read();
                    List<MountEntry> trees = replicas.attached().stream()
                            .flatMap(attached -> table.at(attached.tree().toString()).stream())
                            .toList();
                    long processes = trees.stream()
                            .filter(tree -> ErofsFuse.tag(tree).isPresent())
                            .count();
                    callback.call((double) (trees.size() - processes), "kernel");
                    callback.call((double) processes, FuseProgram.EROFSFUSE.command());
                })
                .register(registry);
    }

    private static boolean isLocal(ReplicaStatus replica) {
        return replica.state() instanceof ReplicaState.Local;
    }

    private static double count(List<ReplicaStatus> all, Predicate<ReplicaStatus> kind) {
        return (double) all.stream().filter(kind).count();
    }

    private static void caches(PrometheusRegistry registry, Replicas replicas) {
        GaugeWithCallback.builder()
                .name("siphon_cache_usable")
                .help("1 if replicas in a cache directory are read, 0 while it is missing or its disk fails.")
                .labelNames("directory")
                .callback(callback -> replicas.readableCaches()
                        .forEach((directory, readable) -> callback.call(readable ? 1 : 0, directory.toString())))
                .register(registry);
        GaugeWithCallback.builder()
                .name("siphon_cache_free_bytes")
                .help("Bytes that still fit into a cache directory without an eviction; absent if it cannot be read.")
                .labelNames("directory")
                .callback(callback -> replicas.rooms()
                        .forEach(room -> callback.call(
                                (double) Math.max(0, room.room()),
                                room.directory().toString())))
                .register(registry);
        GaugeWithCallback.builder()
                .name("siphon_cache_used_bytes")
                .help("Bytes of the replicas in a cache directory; absent if it cannot be read.")
                .labelNames("directory")
                .callback(callback -> replicas.rooms()
                        .forEach(room -> callback.call(
                                (double) room.usedBytes(), room.directory().toString())))
                .register(registry);
    }

    private static double of(List<?> all, Class<?> kind) {
        return (double) all.stream().filter(kind::isInstance).count();
    }
}

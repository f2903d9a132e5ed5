package dev.siphon.node.device;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.mount.MountedDatasets;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.pod.PublishedPods;
import dev.siphon.node.topology.CacheRanking;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Moves datasets near the GPUs of the running pods that read them. Checks every 30 s whether another location of a
/// tree's replica is nearer to all pods that use the tree. If so, requests the move while they run.
///
/// The mount table and [PublishedPods] hold all its input, so it may start at any time.
public final class GpuAffinityRebalancer {
    private static final Logger LOG = LoggerFactory.getLogger(GpuAffinityRebalancer.class);
    private static final Duration PERIOD = Duration.ofSeconds(30);

    private final RunningPodCaches running;
    private final MountedDatasets datasets;
    private final PublishedPods published;
    private final DatasetPlacement placement;
    private final Supplier<MountTable> mounts;

    public GpuAffinityRebalancer(
            RunningPodCaches running, MountedDatasets datasets, PublishedPods published, DatasetPlacement placement) {
        this(running, datasets, published, placement, MountTable::read);
    }

    GpuAffinityRebalancer(
            RunningPodCaches running,
            MountedDatasets datasets,
            PublishedPods published,
            DatasetPlacement placement,
            Supplier<MountTable> mounts) {
        this.running = running;
        this.datasets = datasets;
        this.published = published;
        this.placement = placement;
        this.mounts = mounts;
    }

    /// Starts the checks, if there are several cache directories.
    ///
    /// @return stops the checks
    public AutoCloseable start(BackgroundTasks tasks) {
        if (!running.haveChoice()) {
            return () -> {};
        }
        return tasks.every("following", PERIOD, PERIOD, this::lookOrTell);
    }

    private void lookOrTell() {
        try {
            rebalance();
        } catch (DriverException | UncheckedIOException e) {
            LOG.atWarn().addKeyValue("reason", e.getMessage()).log("cannot determine which replicas the pods read");
        }
    }

    /// Checks once.
    void rebalance() {
        Map<MountedDatasets.Tree, Set<Pod>> readers = readers();
        if (readers.isEmpty()) {
            return;
        }
        Map<Pod, Optional<CacheRanking>> ranked = running.rank(
                readers.values().stream().flatMap(Collection::stream).collect(Collectors.toSet()));
        readers.forEach((tree, pods) -> {
            if (ranked.keySet().containsAll(pods)) {
                follow(tree, wishes(pods, ranked));
            }
        });
    }

    /// Returns the rankings of the pods with a preference.
    private static Map<Pod, CacheRanking> wishes(Set<Pod> pods, Map<Pod, Optional<CacheRanking>> ranked) {
        Map<Pod, CacheRanking> wishes = new HashMap<>();
        ranked.forEach((pod, ranking) -> ranking.filter(CacheRanking::prefers)
                .filter(_ -> pods.contains(pod))
                .ifPresent(wish -> wishes.put(pod, wish)));
        return wishes;
    }

    /// Returns the pods that read each tree. A tree and all its bind mounts have the same device number.
    private Map<MountedDatasets.Tree, Set<Pod>> readers() {
        Map<String, Pod> targets = published.all();
        Map<String, MountedDatasets.Tree> trees = datasets.attached().stream()
                .collect(Collectors.toMap(tree -> tree.mount().device(), tree -> tree, (one, _) -> one));
        Map<MountedDatasets.Tree, Set<Pod>> readers = new HashMap<>();
        for (MountEntry entry :
                trees.isEmpty() ? List.<MountEntry>of() : mounts.get().entries()) {
            Optional<MountedDatasets.Tree> tree = Optional.ofNullable(trees.get(entry.device()));
            Optional<Pod> pod = Optional.ofNullable(targets.get(entry.mountPoint()));
            if (tree.isPresent() && pod.isPresent()) {
                readers.computeIfAbsent(tree.get(), _ -> new HashSet<>()).add(pod.get());
            }
        }
        return readers;
    }

    /// Moves the replica if all pods with a preference have a nearest directory in common.
    private void follow(MountedDatasets.Tree tree, Map<Pod, CacheRanking> wishes) {
        Optional<List<Path>> agreed = wishes.values().stream()
                .map(CacheRanking::nearest)
                .reduce((one, other) -> one.stream().filter(other::contains).toList())
                .filter(nearest -> !nearest.isEmpty());
        try {
            agreed.flatMap(nearest -> datasets.follow(tree, nearest))
                    .ifPresent(home -> wishes.forEach(
                            (pod, ranking) -> placement.moved(tree.digest().hex(), pod, ranking, home)));
        } catch (DriverException notNow) {
            LOG.atInfo()
                    .addKeyValue("dataset", tree.digest())
                    .addKeyValue("reason", notNow.getMessage())
                    .log("cannot move a dataset nearer to its pods' devices now");
        }
    }
}

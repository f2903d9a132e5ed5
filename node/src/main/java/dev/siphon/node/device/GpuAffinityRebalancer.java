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

/// Has datasets follow the GPUs of pods that read them: looks now and then whether a tree's replica would be nearer
/// elsewhere to all pods that are shown the tree, and has it moved there under them.
///
/// What is shown where is in the mount table and in [PublishedPods], so it does not matter when this began.
public final class GpuAffinityRebalancer {
    private static final Logger LOG = LoggerFactory.getLogger(GpuAffinityRebalancer.class);
    private static final Duration PERIOD = Duration.ofSeconds(30);

    private final RunningPodCaches running;
    private final MountedDatasets datasets;
    private final PublishedPods published;
    private final NearestDatasetPublisher placing;
    private final Supplier<MountTable> mounts;

    public GpuAffinityRebalancer(
            RunningPodCaches running,
            MountedDatasets datasets,
            PublishedPods published,
            NearestDatasetPublisher placing) {
        this(running, datasets, published, placing, MountTable::read);
    }

    GpuAffinityRebalancer(
            RunningPodCaches running,
            MountedDatasets datasets,
            PublishedPods published,
            NearestDatasetPublisher placing,
            Supplier<MountTable> mounts) {
        this.running = running;
        this.datasets = datasets;
        this.published = published;
        this.placing = placing;
        this.mounts = mounts;
    }

    /// Looks from now on, where there is anything to choose from.
    ///
    /// @return ends that
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
            LOG.atWarn().addKeyValue("reason", e.getMessage()).log("it is not known what pods read from where");
        }
    }

    /// Looks once.
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

    /// Of those to which it matters.
    private static Map<Pod, CacheRanking> wishes(Set<Pod> pods, Map<Pod, Optional<CacheRanking>> ranked) {
        Map<Pod, CacheRanking> wishes = new HashMap<>();
        ranked.forEach((pod, ranking) -> ranking.filter(CacheRanking::prefers)
                .filter(_ -> pods.contains(pod))
                .ifPresent(wish -> wishes.put(pod, wish)));
        return wishes;
    }

    /// By the device, which a tree has in common with all places where it is shown.
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

    /// Where all that prefer some agree.
    private void follow(MountedDatasets.Tree tree, Map<Pod, CacheRanking> wishes) {
        Optional<List<Path>> agreed = wishes.values().stream()
                .map(CacheRanking::nearest)
                .reduce((one, other) -> one.stream().filter(other::contains).toList())
                .filter(nearest -> !nearest.isEmpty());
        try {
            agreed.flatMap(nearest -> datasets.follow(tree, nearest))
                    .ifPresent(home -> wishes.forEach(
                            (pod, ranking) -> placing.moved(tree.digest().hex(), pod, ranking, home)));
        } catch (DriverException notNow) {
            LOG.atInfo()
                    .addKeyValue("dataset", tree.digest())
                    .addKeyValue("reason", notNow.getMessage())
                    .log("a dataset does not follow its pods' devices now");
        }
    }
}

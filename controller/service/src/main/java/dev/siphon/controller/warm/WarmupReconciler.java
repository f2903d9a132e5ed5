package dev.siphon.controller.warm;

import dev.siphon.controller.dataset.PerObjectRetries;
import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.dataset.Dataset;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Computes where warmups want datasets, and reports their progress.
final class WarmupReconciler {
    private static final Logger LOG = LoggerFactory.getLogger(WarmupReconciler.class);

    private final WarmupCluster cluster;
    private final InstantSource clock;
    private final PerObjectRetries attempts = new PerObjectRetries();

    WarmupReconciler(WarmupCluster cluster, InstantSource clock) {
        this.cluster = cluster;
        this.clock = clock;
    }

    /// Writes the status of each warmup. A failure for one blocks neither other warmups nor pods.
    ///
    /// @param declared names of the existing datasets
    /// @param wanted receives the datasets and nodes that the warmups want
    /// @return the first failed request, if any
    Optional<DriverException.BackendUnavailable> reconcile(
            List<Warmup> warmups,
            Set<String> declared,
            List<ClusterNode> nodes,
            List<OrderedReplica> replicas,
            Set<DatasetOnNode> wanted) {
        List<PerObjectRetries.Step> steps = new ArrayList<>();
        for (Warmup warmup : warmups) {
            Warmup.Status status = status(warmup, declared, nodes, replicas, wanted);
            if (!warmup.said().equals(Optional.of(status))) {
                steps.add(new PerObjectRetries.Step(
                        warmup.name(),
                        warmup,
                        () -> cluster.report(warmup, status),
                        refused -> LOG.warn(
                                "the status of DatasetWarmup {} is not written: {}",
                                warmup.name(),
                                refused.getMessage())));
            }
        }
        return attempts.take(steps);
    }

    private Warmup.Status status(
            Warmup warmup,
            Set<String> declared,
            List<ClusterNode> nodes,
            List<OrderedReplica> replicas,
            Set<DatasetOnNode> wanted) {
        String dataset;
        try {
            dataset = Dataset.name("dataset", warmup.dataset());
        } catch (DriverException.InvalidRequest wrong) {
            return new Warmup.Status(0, 0, wrong.getMessage());
        }
        if (!declared.contains(dataset)) {
            return new Warmup.Status(0, 0, "there is no dataset " + QuotedText.of(dataset));
        }
        if (warmup.until().filter(end -> end.isBefore(clock.instant())).isPresent()) {
            return new Warmup.Status(0, 0, "its time is over");
        }
        Map<DatasetOnNode, Optional<OrderedReplica>> places = new TreeMap<>(Comparator.comparing(DatasetOnNode::node));
        nodes.stream()
                .filter(node ->
                        node.labels().entrySet().containsAll(warmup.selector().entrySet()))
                .map(node -> new DatasetOnNode(dataset, node.name()))
                .forEach(place -> places.put(
                        place,
                        replicas.stream()
                                .filter(replica -> replica.place().equals(place))
                                .findFirst()));
        wanted.addAll(places.keySet());
        int local = (int) places.values().stream()
                .filter(replica -> replica.filter(OrderedReplica::isLocal).isPresent())
                .count();
        String trouble = places.values().stream()
                .flatMap(replica -> replica.flatMap(each -> each.trouble(clock.instant())).stream())
                .findFirst()
                .orElse(places.isEmpty() ? "no node has these labels" : "");
        return new Warmup.Status(places.size(), local, trouble);
    }
}

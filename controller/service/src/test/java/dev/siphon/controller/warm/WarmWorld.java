package dev.siphon.controller.warm;

import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetReplica;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// Creates pods, nodes and replicas for tests.
final class WarmWorld {
    static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    static final String X = "u1.x";
    static final String GPU = "nvidia.com/gpu";

    private WarmWorld() {}

    static VolumeId.DatasetVolume volume(String dataset) {
        return new VolumeId.DatasetVolume(
                "lab",
                "cephfs",
                "0123456789abcdef".repeat(3).substring(0, 40),
                Optional.empty(),
                "/datasets/" + dataset);
    }

    /// Returns datasets that the namespace `u1` reads.
    static Map<String, Shared> declared(String... names) {
        return Arrays.stream(names)
                .collect(Collectors.toMap(
                        name -> name, name -> new Shared(volume(name), false, new TreeSet<>(List.of("u1")))));
    }

    static ResourceAmounts gpus(int number) {
        return new ResourceAmounts(Map.of(GPU, BigDecimal.valueOf(number)));
    }

    /// @param free the free GPUs of `all`
    static ClusterNode node(String name, int all, int free) {
        return new ClusterNode(
                name, "host-" + name, Map.of("node", name), List.of(), true, gpus(all), gpus(all - free));
    }

    static NodeRules on(String... nodes) {
        NodeRules.Expression here = new NodeRules.Expression("node", "In", Arrays.asList(nodes));
        return new NodeRules(Map.of(), Optional.of(List.of(new NodeRules.Term(List.of(here), List.of()))), List.of());
    }

    static NodeRules anywhere() {
        return new NodeRules(Map.of(), Optional.empty(), List.of());
    }

    /// Returns a pod that has waited for 10 s.
    static GatedPod pod(String name, int gpus, NodeRules rules) {
        return pod(name, gpus, rules, 10);
    }

    static GatedPod pod(String name, int gpus, NodeRules rules, int waited) {
        return new GatedPod(
                "u1",
                name,
                "uid-" + name,
                "1",
                NOW.minusSeconds(waited),
                Optional.empty(),
                false,
                "job",
                gpus(gpus),
                true,
                rules,
                List.of(new GatedPod.DatasetReference.ByName("u1/x")));
    }

    static OrderedReplica replica(String node, DatasetReplica.Report report) {
        return new OrderedReplica(
                ReplicaOrderWriter.name(new OrderedReplica.DatasetOnNode(X, node)),
                NOW.minusSeconds(5),
                new DatasetReplica.Order(X, node, volume(X), true, Optional.empty()),
                Optional.of(report));
    }

    static OrderedReplica local(String node) {
        return replica(node, DatasetReplica.Report.local(100, "/cache"));
    }

    static OrderedReplica filling(String node, int percent) {
        return replica(node, DatasetReplica.Report.filling(percent, percent, "/cache"));
    }

    static OrderedReplica unordered(OrderedReplica replica) {
        DatasetReplica.Order order = replica.order();
        return new OrderedReplica(
                replica.name(),
                replica.made(),
                new DatasetReplica.Order(order.dataset(), order.node(), order.volume(), false, Optional.empty()),
                replica.report());
    }

    static OrderedReplica failed(String node, String why) {
        return replica(node, DatasetReplica.Report.failed(why));
    }

    /// Returns a replica whose node has reported nothing since the order.
    static OrderedReplica silent(String node, int seconds) {
        OrderedReplica told = local(node);
        return new OrderedReplica(told.name(), NOW.minusSeconds(seconds), told.order(), Optional.empty());
    }
}

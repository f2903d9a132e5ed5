package dev.siphon.controller.warm;

import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetReplica;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Pods, nodes and replicas for tests.
final class WarmWorld {
    static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    static final String X = "u1.x";
    static final String GPU = "nvidia.com/gpu";

    private WarmWorld() {}

    static VolumeId.Dataset volume(String dataset) {
        return new VolumeId.Dataset(
                "lab",
                "cephfs",
                "0123456789abcdef".repeat(3).substring(0, 40),
                Optional.empty(),
                "/datasets/" + dataset);
    }

    static Resources gpus(int number) {
        return new Resources(Map.of(GPU, BigDecimal.valueOf(number)));
    }

    /// @param free GPUs of `all`
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

    /// One that has waited for 10 s.
    static GatedPod pod(String name, int gpus, NodeRules rules) {
        return pod(name, gpus, rules, 10);
    }

    static GatedPod pod(String name, int gpus, NodeRules rules, int waited) {
        return new GatedPod(
                "u1",
                name,
                "uid-" + name,
                NOW.minusSeconds(waited),
                Optional.empty(),
                "job",
                gpus(gpus),
                rules,
                List.of(new GatedPod.Use.Named("u1/x")));
    }

    static Replica replica(String node, DatasetReplica.Report report) {
        return new Replica(
                Orders.name(new Replica.Place(X, node)),
                NOW.minusSeconds(5),
                new DatasetReplica.Order(X, node, volume(X), true, Optional.empty()),
                Optional.of(report));
    }

    static Replica local(String node) {
        return replica(node, DatasetReplica.Report.local(100, "/cache"));
    }

    static Replica filling(String node, int percent) {
        return replica(node, DatasetReplica.Report.filling(percent, percent, "/cache"));
    }

    static Replica failed(String node, String why) {
        return replica(node, DatasetReplica.Report.failed(why));
    }

    /// One of which its node says nothing since it was told.
    static Replica silent(String node, int seconds) {
        Replica told = local(node);
        return new Replica(told.name(), NOW.minusSeconds(seconds), told.order(), Optional.empty());
    }
}

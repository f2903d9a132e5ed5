package dev.siphon.controller.warm;

import dev.siphon.controller.warm.GatedDatasets.ReadDecision;
import dev.siphon.csi.Grants.Shared;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/// What one round has read.
///
/// @param replicas all orders
/// @param current those of them whose volumes still have their datasets' names; others open no gate
/// @param declared the existing datasets by name
/// @param reads what each pod at the gate reads
record ObservedGates(
        Instant now,
        List<ClusterNode> nodes,
        List<OrderedReplica> replicas,
        List<OrderedReplica> current,
        Map<String, Shared> declared,
        Map<GatedPod, ReadDecision> reads) {
    ObservedGates(
            Instant now,
            List<ClusterNode> nodes,
            List<OrderedReplica> replicas,
            Map<String, Shared> declared,
            Map<GatedPod, ReadDecision> reads) {
        this(
                now,
                nodes,
                replicas,
                replicas.stream().filter(replica -> replica.isOf(declared)).toList(),
                declared,
                reads);
    }
}

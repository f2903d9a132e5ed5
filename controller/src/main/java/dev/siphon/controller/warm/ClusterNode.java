package dev.siphon.controller.warm;

import java.util.List;
import java.util.Map;

/// A node of the cluster.
///
/// @param hostname its label `kubernetes.io/hostname`, by which pods prefer it
/// @param open whether new pods may come at all: it is ready, and not cordoned
/// @param room what all its pods together may have
/// @param taken what the pods that are there have
public record ClusterNode(
        String name,
        String hostname,
        Map<String, String> labels,
        List<Taint> taints,
        boolean open,
        ResourceAmounts room,
        ResourceAmounts taken) {
    public ClusterNode {
        labels = Map.copyOf(labels);
        taints = List.copyOf(taints);
    }

    /// What keeps pods away that do not tolerate it.
    ///
    /// @param effect as Kubernetes calls it
    public record Taint(String key, String value, String effect) {
        boolean isStrict() {
            return effect.equals("NoSchedule") || effect.equals("NoExecute");
        }
    }

    /// The same node with more to be had, of which some is taken.
    public ClusterNode with(ResourceAmounts moreRoom, ResourceAmounts moreTaken) {
        return new ClusterNode(name, hostname, labels, taints, open, room.plus(moreRoom), taken.plus(moreTaken));
    }

    ResourceAmounts free() {
        return room.minus(taken);
    }
}

package dev.siphon.controller.warm;

import java.util.List;
import java.util.Map;

/// A node of the cluster.
///
/// @param hostname its label `kubernetes.io/hostname`, for the pods' node preference
/// @param open whether it accepts new pods: it is ready, and not cordoned
/// @param room the resources for all its pods
/// @param taken the resources that its pods use
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

    /// A taint: keeps pods away that do not tolerate it.
    ///
    /// @param effect as Kubernetes names it
    public record Taint(String key, String value, String effect) {
        boolean isStrict() {
            return effect.equals("NoSchedule") || effect.equals("NoExecute");
        }
    }

    /// Returns a copy with additional resources, some of them in use.
    public ClusterNode with(ResourceAmounts moreRoom, ResourceAmounts moreTaken) {
        return new ClusterNode(name, hostname, labels, taints, open, room.plus(moreRoom), taken.plus(moreTaken));
    }

    ResourceAmounts free() {
        return room.minus(taken);
    }
}

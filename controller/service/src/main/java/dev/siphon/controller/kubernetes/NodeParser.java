package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.warm.ClusterNode;
import dev.siphon.controller.warm.ResourceAmounts;
import java.util.Optional;
import java.util.Set;

/// Reads node objects.
final class NodeParser {
    private static final String HOSTNAME = "kubernetes.io/hostname";
    private static final String SPEC = "spec";

    /// The parts to read of a node. Anyone with its kubelet's key may write them.
    static final Keep PARTS = new Keep(
            Set.of(
                    "metadata.name",
                    "metadata.labels",
                    "spec.taints",
                    "spec.unschedulable",
                    "status.allocatable",
                    "status.conditions.type",
                    "status.conditions.status"),
            5_000);

    static final Informer.Source SOURCE = new Informer.Source("Nodes", "api/v1/nodes", "", 100, PARTS);

    private NodeParser() {}

    /// Returns a node with no resources taken. A node that is too large to be read completely counts as not ready.
    static ClusterNode node(ObjectParts parts) {
        JsonObject node = parts.kept();
        String name = JsonParts.text(node, "metadata", "name").orElse("");
        var labels = JsonParts.map(node, "metadata", "labels");
        boolean ready = JsonParts.each(node, "status", "conditions")
                .filter(each -> JsonParts.text(each, "type").equals(Optional.of("Ready")))
                .anyMatch(each -> JsonParts.text(each, "status").equals(Optional.of("True")));
        boolean cordoned = JsonParts.text(node, SPEC, "unschedulable").equals(Optional.of("true"));
        return new ClusterNode(
                name,
                labels.getOrDefault(HOSTNAME, name),
                labels,
                JsonParts.each(node, SPEC, "taints")
                        .map(taint -> new ClusterNode.Taint(
                                JsonParts.text(taint, "key").orElse(""),
                                JsonParts.text(taint, "value").orElse(""),
                                JsonParts.text(taint, "effect").orElse("")))
                        .toList(),
                ready && !cordoned && parts.whole(),
                PodParser.resources(node, _ -> true, "status", "allocatable"),
                ResourceAmounts.NONE);
    }
}

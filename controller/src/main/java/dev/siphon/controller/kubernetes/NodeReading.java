package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.warm.ClusterNode;
import dev.siphon.controller.warm.Resources;
import java.util.Optional;

/// What nodes say of themselves.
final class NodeReading {
    private static final String HOSTNAME = "kubernetes.io/hostname";
    private static final String SPEC = "spec";

    private NodeReading() {}

    /// The node, of which nothing is taken.
    static ClusterNode node(JsonObject node) {
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
                ready && !cordoned,
                PodReading.resources(node, _ -> true, "status", "allocatable"),
                Resources.NONE);
    }
}

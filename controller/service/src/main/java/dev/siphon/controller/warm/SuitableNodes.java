package dev.siphon.controller.warm;

import java.math.BigDecimal;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// Finds the nodes where pods may run, and those of them with room now. Results are cached for pods with the same
/// rules and needs, such as those of a job. Otherwise 500 pods on 50 nodes take a second of CPU time.
final class SuitableNodes {
    private final List<ClusterNode> nodes;

    /// By node name.
    private final Map<String, Free> free;

    private final Map<Ask, SuitableAndFree> found = new HashMap<>();

    private record Free(ResourceAmounts all, BigDecimal devices) {
        static Free of(ClusterNode node) {
            return new Free(node.free(), node.free().devices());
        }
    }

    /// The properties that decide where a pod may run.
    private record Ask(NodeRules rules, ResourceAmounts needs) {}

    /// Names of nodes.
    private record SuitableAndFree(Set<String> suitable, Set<String> withRoom) {}

    SuitableNodes(List<ClusterNode> nodes) {
        this.nodes = List.copyOf(nodes);
        this.free = nodes.stream().collect(Collectors.toMap(ClusterNode::name, Free::of, (one, _) -> one));
    }

    /// Returns the names of the nodes where the pod may run once they have room.
    Set<String> of(GatedPod pod) {
        return find(pod).suitable();
    }

    /// Returns those of them where it may run now.
    Set<String> withRoom(GatedPod pod) {
        return find(pod).withRoom();
    }

    /// Returns the unused resources of a node.
    ResourceAmounts free(ClusterNode node) {
        return ofNode(node).all();
    }

    /// Returns the number of unused devices of a node.
    BigDecimal devices(ClusterNode node) {
        return ofNode(node).devices();
    }

    private Free ofNode(ClusterNode node) {
        return Optional.ofNullable(free.get(node.name())).orElseThrow();
    }

    private SuitableAndFree find(GatedPod pod) {
        return found.computeIfAbsent(new Ask(pod.rules(), pod.needs()), this::find);
    }

    private SuitableAndFree find(Ask ask) {
        Set<String> suitable = new HashSet<>();
        Set<String> withRoom = new HashSet<>();
        for (ClusterNode node : nodes) {
            if (ask.rules().admit(node) && node.room().hold(ask.needs())) {
                suitable.add(node.name());
                if (free(node).hold(ask.needs())) {
                    withRoom.add(node.name());
                }
            }
        }
        return new SuitableAndFree(suitable, withRoom);
    }
}

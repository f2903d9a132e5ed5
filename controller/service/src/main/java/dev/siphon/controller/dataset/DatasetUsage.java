package dev.siphon.controller.dataset;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// How many pods use a dataset, and where. Administrators see it before they delete a dataset or drain a node. It
/// stays within some KiB for any number of nodes and namespaces.
///
/// @param pods on all nodes
/// @param nodes those with most pods first, at most [#MOST_NODES]
/// @param moreNodes how many other nodes have such pods
public record DatasetUsage(int pods, List<PodsOnNode> nodes, int moreNodes) {
    /// Limits the size: administrators list a hundred datasets, and the controller lists all of them every 15 s.
    static final int MOST_NODES = 50;

    static final int MOST_NAMESPACES = 5;

    public DatasetUsage {
        nodes = List.copyOf(nodes);
    }

    /// The pods on one node.
    ///
    /// @param namespaces of these pods, sorted, at most [#MOST_NAMESPACES]
    /// @param moreNamespaces how many other namespaces have such pods there
    public record PodsOnNode(String node, int pods, List<String> namespaces, int moreNamespaces) {
        public PodsOnNode {
            namespaces = List.copyOf(namespaces);
        }
    }

    /// Counts pods.
    static final class Count {
        private final Map<String, Pods> nodes = new HashMap<>();

        private static final class Pods {
            private int number;
            private final TreeSet<String> namespaces = new TreeSet<>();
        }

        void add(String node, String namespace) {
            Pods pods = nodes.computeIfAbsent(node, _ -> new Pods());
            pods.number++;
            pods.namespaces.add(namespace);
        }

        /// Returns the namespaces of all pods.
        Set<String> namespaces() {
            return nodes.values().stream()
                    .flatMap(pods -> pods.namespaces.stream())
                    .collect(Collectors.toUnmodifiableSet());
        }

        DatasetUsage sum() {
            return new DatasetUsage(
                    nodes.values().stream().mapToInt(pods -> pods.number).sum(),
                    nodes.entrySet().stream()
                            .map(each -> onNode(each.getKey(), each.getValue()))
                            .sorted(Comparator.comparingInt(PodsOnNode::pods)
                                    .reversed()
                                    .thenComparing(PodsOnNode::node))
                            .limit(MOST_NODES)
                            .toList(),
                    Math.max(0, nodes.size() - MOST_NODES));
        }

        private static PodsOnNode onNode(String node, Pods pods) {
            return new PodsOnNode(
                    node,
                    pods.number,
                    pods.namespaces.stream().limit(MOST_NAMESPACES).toList(),
                    Math.max(0, pods.namespaces.size() - MOST_NAMESPACES));
        }
    }
}

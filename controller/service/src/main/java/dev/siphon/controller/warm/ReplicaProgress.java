package dev.siphon.controller.warm;

import dev.siphon.controller.grant.NamespaceAccess.ReplicaSummary;
import dev.siphon.csi.dataset.DatasetReplica.State;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Summarizes the replicas of datasets for the namespaces whose pods use them or wait for them. Makes no calls;
/// the last rounds of gate and pods supply the data.
public final class ReplicaProgress {
    private static final int WHOLE = 100;

    private volatile Map<String, ReplicaSummary> replicas = Map.of();
    private volatile Map<String, Set<String>> waiting = Map.of();
    private volatile Map<String, Set<String>> using = Map.of();

    /// Stores the result of a round of the gate.
    ///
    /// @param all all ordered replicas
    /// @param namespaces the waiting pods' namespaces, by dataset name
    void seen(List<OrderedReplica> all, Map<String, Set<String>> namespaces) {
        Map<String, List<OrderedReplica>> byDataset = new HashMap<>();
        all.forEach(each -> byDataset
                .computeIfAbsent(each.order().dataset(), _ -> new ArrayList<>())
                .add(each));
        Map<String, ReplicaSummary> now = new HashMap<>();
        byDataset.forEach((dataset, some) -> now.put(dataset, sum(some)));
        replicas = Map.copyOf(now);
        waiting = Map.copyOf(namespaces);
    }

    /// Stores the result of a round over all pods on nodes.
    ///
    /// @param namespaces these pods' namespaces, by dataset name
    public void used(Map<String, Set<String>> namespaces) {
        using = Map.copyOf(namespaces);
    }

    /// Returns the summaries by namespace and dataset name; datasets without orders are left out.
    public Map<String, Map<String, ReplicaSummary>> byNamespace() {
        Map<String, Map<String, ReplicaSummary>> found = new HashMap<>();
        replicas.forEach((dataset, sum) -> {
            Set<String> namespaces = new HashSet<>(waiting.getOrDefault(dataset, Set.of()));
            namespaces.addAll(using.getOrDefault(dataset, Set.of()));
            namespaces.forEach(namespace ->
                    found.computeIfAbsent(namespace, _ -> new HashMap<>()).put(dataset, sum));
        });
        return found;
    }

    /// Counts a full replica even if it is no longer wanted, because pods still read it.
    private static ReplicaSummary sum(Collection<OrderedReplica> replicas) {
        int local = 0;
        int failed = 0;
        int filling = 0;
        int percent = 0;
        for (OrderedReplica replica : replicas) {
            if (replica.isLocal()) {
                local++;
            } else if (replica.order().wanted() && replica.state() == State.FAILED) {
                failed++;
            } else if (replica.order().wanted()) {
                filling++;
                percent += replica.percent();
            }
        }
        int mean = filling == 0 ? WHOLE : percent / filling;
        return new ReplicaSummary(local, filling, failed, mean - mean % ReplicaSummary.STEP);
    }
}

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

/// How far the replicas of datasets are, for the people of those namespaces whose pods use them or wait for them:
/// as the last looks at the gate and at pods found it. Asks nobody.
public final class ReplicaProgress {
    private static final int WHOLE = 100;

    private volatile Map<String, ReplicaSummary> replicas = Map.of();
    private volatile Map<String, Set<String>> waiting = Map.of();
    private volatile Map<String, Set<String>> using = Map.of();

    /// What a look at the gate found.
    ///
    /// @param all the replicas that nodes were told of
    /// @param namespaces of the pods that wait, by the datasets' names
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

    /// What a look at all pods on nodes found.
    ///
    /// @param namespaces of these pods, by the datasets' names
    public void used(Map<String, Set<String>> namespaces) {
        using = Map.copyOf(namespaces);
    }

    /// By namespaces and datasets' names; a dataset that no node was told of is left out.
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

    /// One that is wanted no more counts while it is whole: pods read it still.
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

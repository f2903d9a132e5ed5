package dev.siphon.controller.explain;

import dev.siphon.controller.dataset.DatasetCatalog;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.key.ClientSessions;
import dev.siphon.controller.key.Identities;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.warm.OrderedReplica;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/// Where [Whois] and [PodWait] read.
///
/// @param kubernetes empty without Kubernetes
public record KnownPlaces(
        CephPorts ceph,
        Identities identities,
        ClientSessions sessions,
        AccountDirectory directory,
        Optional<InKubernetes> kubernetes) {
    /// What Kubernetes knows.
    ///
    /// @param replicas the ordered replicas of datasets
    public record InKubernetes(
            ClusterObjects objects, DatasetCatalog datasets, Supplier<List<OrderedReplica>> replicas) {}
}

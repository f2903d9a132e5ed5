package dev.siphon.controller.dataset;

import dev.siphon.controller.key.DatasetIdentity;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Removes a node's identity for a dataset that the node no longer uses. Two passes in a row must find no pod with
/// the dataset and no ordered replica there, and no request from the node in between. Identities of other
/// Kubernetes clusters stay, since their pods are unknown here. [DatasetGrantsPublisher] removes all identities of
/// an undeclared dataset after its last pod.
///
/// A pass costs a mon command per cluster.
public final class IdleDatasetKeys {
    private static final Logger LOG = LoggerFactory.getLogger(IdleDatasetKeys.class);
    private static final Duration BETWEEN = Duration.ofMinutes(10);

    private final DatasetUsageCluster pods;
    private final Clusters clusters;
    private final DatasetIdentities identities;

    /// What the last pass found idle.
    private Set<Minted> idleBefore = Set.of();

    /// When that pass started, by the clock of [DatasetIdentities].
    private long begunBefore;

    private record Minted(String cluster, DatasetIdentity identity) {}

    private record NodeUse(VolumeId.DatasetVolume dataset, String node) {}

    public IdleDatasetKeys(DatasetUsageCluster pods, Clusters clusters, DatasetIdentities identities) {
        this.pods = pods;
        this.clusters = clusters;
        this.identities = identities;
        this.begunBefore = identities.now();
    }

    /// Starts periodic reconciliation, until the task is closed.
    public BackgroundTasks.Task start(BackgroundTasks tasks) {
        return tasks.every("idle-dataset-keys", Duration.ZERO, BETWEEN, this::reconcileAndLog);
    }

    private void reconcileAndLog() {
        try {
            reconcile();
        } catch (DriverException notNow) {
            LOG.info("dataset keys that nodes no longer use are removed later: {}", notNow.getMessage());
        }
    }

    /// Runs one pass.
    ///
    /// @throws DriverException if some input cannot be read now
    void reconcile() {
        long begun = identities.now();
        Map<String, VolumeId.DatasetVolume> declared = new HashMap<>();
        pods.declared().forEach(known -> {
            VolumeId.DatasetVolume dataset = known.dataset().volume(clusters.defaultCluster());
            declared.put(CephNames.dataset(dataset), dataset);
        });
        Set<NodeUse> used = used(Set.copyOf(declared.values()));
        Set<Minted> idle = new HashSet<>();
        for (String cluster : clusters.ids()) {
            for (Minted minted : listed(cluster, begun)) {
                Optional<VolumeId.DatasetVolume> dataset =
                        Optional.ofNullable(declared.get(minted.identity().dataset()));
                String node = minted.identity().node().orElseThrow().name();
                dataset.filter(known -> !used.contains(new NodeUse(known, node)))
                        .ifPresent(known -> {
                            if (!idleBefore.contains(minted)
                                    || !identities.removeIdle(
                                            known, minted.identity().userId(), begunBefore)) {
                                idle.add(minted);
                            }
                        });
            }
        }
        idleBefore = idle;
        begunBefore = begun;
    }

    private Set<NodeUse> used(Set<VolumeId.DatasetVolume> declared) {
        Set<NodeUse> used = new HashSet<>();
        if (!declared.isEmpty()) {
            pods.each(declared, use -> used.add(new NodeUse(use.dataset(), DatasetIdentity.nameOf(use.node()))));
            pods.eachReplica((dataset, node) -> used.add(new NodeUse(dataset, DatasetIdentity.nameOf(node))));
        }
        return used;
    }

    /// Returns the node identities of this Kubernetes cluster.
    private List<Minted> listed(String cluster, long begun) {
        return identities.listed(cluster, begun).stream()
                .flatMap(userId -> clusters.fileSystems(cluster).stream()
                        .flatMap(fileSystem -> DatasetIdentity.parse(fileSystem.name(), userId).stream()))
                .filter(identity -> identity.node().isPresent() && identities.isOwn(identity))
                .map(identity -> new Minted(cluster, identity))
                .toList();
    }
}

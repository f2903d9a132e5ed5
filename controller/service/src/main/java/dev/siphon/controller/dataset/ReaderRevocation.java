package dev.siphon.controller.dataset;

import dev.siphon.controller.dataset.DatasetRevocation.Revoked;
import dev.siphon.controller.dataset.DatasetRevocation.Target;
import dev.siphon.controller.key.DatasetIdentity;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.FileSystemRef;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Revokes a node's key for a dataset, and its mounts, where only withdrawn readers use the dataset: frozen
/// accounts, or accounts whose name meant another one before. A node has only one key, so it stays while a pod
/// there may read the dataset. The key that volumes of claims share is replaced once nobody may read the dataset.
///
/// It runs [#LOOKS] passes after each withdrawal: nodes start pods until they learn of it.
public final class ReaderRevocation {
    private static final Logger LOG = LoggerFactory.getLogger(ReaderRevocation.class);
    private static final Duration BETWEEN = Duration.ofSeconds(30);

    /// Four passes span 90 s. A node may accept a withdrawn reader for 75 s: grants are published within 15 s, and
    /// a node caches them for 60 s.
    private static final int LOOKS = 4;

    private final DatasetReaders readers;
    private final Supplier<Grants> published;
    private final DatasetUsageCluster pods;
    private final Clusters clusters;
    private final DatasetRevocation revocation;

    private Set<String> known = Set.of();
    private int looksLeft;

    /// @param published who may read what, as nodes know it
    public ReaderRevocation(
            DatasetReaders readers,
            Supplier<Grants> published,
            DatasetUsageCluster pods,
            Clusters clusters,
            DatasetRevocation revocation) {
        this.readers = readers;
        this.published = published;
        this.pods = pods;
        this.clusters = clusters;
        this.revocation = revocation;
    }

    /// Starts periodic reconciliation, until the task is closed.
    public BackgroundTasks.Task start(BackgroundTasks tasks) {
        return tasks.every("withdrawn-readers", BETWEEN, BETWEEN, this::reconcileAndLog);
    }

    /// Runs a pass if withdrawals are pending. After a restart, all withdrawn readers count as new.
    void reconcileAndLog() {
        Set<String> withdrawn = readers.withdrawn();
        if (!known.containsAll(withdrawn)) {
            looksLeft = LOOKS;
        }
        known = withdrawn;
        if (looksLeft == 0) {
            return;
        }
        try {
            reconcile();
            looksLeft--;
        } catch (DriverException notNow) {
            LOG.info("dataset keys of withdrawn readers are taken away later: {}", notNow.getMessage());
        }
    }

    /// Where a dataset is used: the namespaces by node name.
    private record InUse(Dataset dataset, Map<String, Set<String>> nodes) {}

    private void reconcile() {
        Map<FileSystemRef, Set<Target>> doomed = new HashMap<>();
        Grants grants = published.get();
        used().forEach((volume, use) -> grants.dataset(use.dataset().name())
                .filter(shared -> shared.volume().equals(volume))
                .map(shared -> targets(volume, use, shared.namespaces()))
                .filter(targets -> !targets.isEmpty())
                .ifPresent(targets -> doomed.computeIfAbsent(
                                new FileSystemRef(volume.cluster(), volume.fileSystem()), _ -> new HashSet<>())
                        .addAll(targets)));
        doomed.forEach(this::take);
    }

    private Map<VolumeId.DatasetVolume, InUse> used() {
        Map<VolumeId.DatasetVolume, InUse> used = new HashMap<>();
        for (DatasetUsageCluster.RecordedUsage each : pods.declared()) {
            if (!each.dataset().isForEverybody()) {
                used.put(each.dataset().volume(clusters.defaultCluster()), new InUse(each.dataset(), new HashMap<>()));
            }
        }
        if (!used.isEmpty()) {
            pods.each(
                    Set.copyOf(used.keySet()),
                    use -> Optional.ofNullable(used.get(use.dataset()))
                            .ifPresent(dataset -> dataset.nodes()
                                    .computeIfAbsent(DatasetIdentity.nameOf(use.node()), _ -> new HashSet<>())
                                    .add(use.namespace())));
        }
        return used;
    }

    /// @param reading the namespaces that may read it; a withdrawn one is included until grants are published again
    private List<Target> targets(VolumeId.DatasetVolume volume, InUse use, Set<String> reading) {
        Set<String> nodes = new HashSet<>();
        use.nodes().forEach((node, namespaces) -> {
            if (Collections.disjoint(namespaces, reading)
                    && namespaces.stream().anyMatch(namespace -> isWithdrawn(use.dataset(), namespace))) {
                nodes.add(node);
            }
        });
        if (nodes.isEmpty()) {
            return List.of();
        }
        try {
            return revocation.of(volume).stream()
                    .filter(target -> target.identity()
                            .node()
                            .map(at -> nodes.contains(at.name()))
                            .orElse(reading.isEmpty()))
                    .toList();
        } catch (DriverException.NotFound _) {
            return List.of();
        }
    }

    private boolean isWithdrawn(Dataset dataset, String namespace) {
        try {
            return readers.isWithdrawn(dataset, namespace);
        } catch (DriverException.NotFound _) {
            return false; // its pods end with it
        }
    }

    private void take(FileSystemRef place, Set<Target> targets) {
        try {
            revocation
                    .revoke(place.cluster(), place.fileSystem(), targets, _ -> true)
                    .forEach(ReaderRevocation::logRevoked);
        } catch (DriverException.AccessDenied denied) {
            targets.forEach(revocation::removeOfNode);
            LOG.warn(
                    "nodes lose the dataset keys of withdrawn readers in file system {}, but mounts work until"
                            + " their tickets end: {}",
                    place.fileSystem(),
                    denied.getMessage());
        }
    }

    private static void logRevoked(Revoked revoked) {
        LOG.atInfo()
                .addKeyValue("identity", revoked.target().identity().userId())
                .addKeyValue("sessions_ended", revoked.ended().size())
                .log("a node lost its key of a dataset, because the readers on that node are withdrawn");
        revoked.unfinished()
                .forEach(why -> LOG.warn("{}: {}", revoked.target().identity().userId(), why));
    }
}

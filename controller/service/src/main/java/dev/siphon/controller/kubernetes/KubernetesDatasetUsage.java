package dev.siphon.controller.kubernetes;

import dev.siphon.controller.dataset.DatasetUsage;
import dev.siphon.controller.dataset.DatasetUsageCluster;
import dev.siphon.controller.kubernetes.resource.DatasetObject;
import dev.siphon.controller.warm.OrderedReplica;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetReplica;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Finds the pods that use datasets, by the PersistentVolumes of their claims and by the datasets that they were
/// given directly. It records usage in the status of Dataset objects.
final class KubernetesDatasetUsage implements DatasetUsageCluster {
    private final KubernetesApi api;
    private final PersistentVolumes volumes;
    private final RunningPods running;
    private final ReplicaObjects replicas;
    private final DatasetAccesses accesses;
    private final KubernetesDatasetCatalog datasets;

    KubernetesDatasetUsage(
            KubernetesApi api,
            KubernetesDatasetCatalog datasets,
            PersistentVolumes volumes,
            RunningPods running,
            ReplicaObjects replicas,
            DatasetAccesses accesses) {
        this.api = api;
        this.datasets = datasets;
        this.volumes = volumes;
        this.running = running;
        this.replicas = replicas;
        this.accesses = accesses;
    }

    @Override
    public List<RecordedUsage> declared() {
        List<RecordedUsage> all = new ArrayList<>();
        for (DatasetObject object : datasets.objects()) {
            try {
                all.add(new RecordedUsage(KubernetesDatasetCatalog.parse(object), written(object.status())));
            } catch (DriverException.InvalidRequest _) {
                // its status reports the error, and no volume shows it
            }
        }
        return all;
    }

    private static Optional<DatasetUsage> written(DatasetObject.Status status) {
        return Optional.ofNullable(status.pods())
                .map(pods -> new DatasetUsage(
                        number(pods),
                        Optional.ofNullable(status.nodes()).orElseGet(List::of).stream()
                                .map(node -> new DatasetUsage.PodsOnNode(
                                        node.name(),
                                        number(node.pods()),
                                        Optional.ofNullable(node.namespaces()).orElseGet(List::of),
                                        number(node.moreNamespaces())))
                                .toList(),
                        number(status.moreNodes())));
    }

    private static int number(@Nullable Long number) {
        return Math.clamp(Optional.ofNullable(number).orElse(0L), 0, Integer.MAX_VALUE);
    }

    @Override
    public void each(Set<VolumeId.DatasetVolume> datasets, Consumer<PodUse> each) {
        ShownDatasets shown = ShownDatasets.of(volumes, accesses, datasets);
        if (shown.isEmpty()) {
            return;
        }
        for (RunningPods.RunningPod pod : running.all()) {
            shown.of(pod).forEach(dataset -> each.accept(new PodUse(dataset, pod.node(), pod.namespace())));
        }
    }

    @Override
    public void eachReplica(BiConsumer<VolumeId.DatasetVolume, String> each) {
        for (OrderedReplica replica : replicas.all()) {
            DatasetReplica.Order order = replica.order();
            if (order.wanted()) {
                each.accept(order.volume().withoutClaim(), order.node());
            }
        }
    }

    /// Leaves the other fields of the status as they are.
    @Override
    public void report(String name, DatasetUsage use) {
        List<DatasetObject.OnNode> nodes = use.nodes().stream()
                .map(node -> new DatasetObject.OnNode(
                        node.node(),
                        node.pods(),
                        node.namespaces(),
                        node.moreNamespaces() > 0 ? Long.valueOf(node.moreNamespaces()) : null))
                .toList();
        KubernetesDatasetCatalog.patch(api, name, DatasetObject.Status.of(use.pods(), nodes, use.moreNodes()));
    }
}

package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.dataset.DatasetUse;
import dev.siphon.controller.dataset.UsingPods;
import dev.siphon.controller.kubernetes.resource.DatasetObject;
import dev.siphon.controller.warm.GatedPod;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Pods that use datasets, by the PersistentVolumes of their claims, and by what they were given that name a dataset
/// themselves; and the status of Dataset objects.
final class KubernetesUsingPods implements UsingPods {
    private static final String REPLICAS =
            "apis/" + DatasetAccess.GROUP + "/" + DatasetAccess.VERSION + "/" + DatasetReplica.PLURAL + "?limit=250";
    private static final ObjectParts.Keep OF_REPLICA = ObjectParts.Keep.of("spec");

    private final KubernetesApi api;
    private final PersistentVolumes volumes;
    private final PodReading reading;

    /// @param driver the CSI driver's name
    KubernetesUsingPods(KubernetesApi api, PersistentVolumes volumes, String driver) {
        this.api = api;
        this.volumes = volumes;
        this.reading = new PodReading(driver);
    }

    @Override
    public List<Known> declared() {
        List<Known> all = new ArrayList<>();
        boolean _ = KubernetesDatasets.each(api, object -> {
            try {
                all.add(new Known(KubernetesDatasets.parse(object), written(object.status())));
            } catch (DriverException.InvalidRequest _) {
                // whoever wrote it is told by its status, and no volume shows it
            }
        });
        return all;
    }

    private static Optional<DatasetUse> written(DatasetObject.Status status) {
        return Optional.ofNullable(status.pods())
                .map(pods -> new DatasetUse(
                        number(pods),
                        Optional.ofNullable(status.nodes()).orElseGet(List::of).stream()
                                .map(node -> new DatasetUse.OnNode(
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

    /// What volumes show.
    ///
    /// @param claims by NAMESPACE/NAME
    /// @param pods those that name datasets themselves, by their uids
    private record Shown(Map<String, VolumeId.Dataset> claims, Map<String, Set<VolumeId.Dataset>> pods) {}

    /// Where nobody has a volume, pods are not asked for.
    @Override
    public void each(Set<VolumeId.Dataset> datasets, Consumer<Use> each) {
        Shown shown = shown(datasets);
        if (shown.claims().isEmpty() && shown.pods().isEmpty()) {
            return;
        }
        boolean _ = ObjectParts.list(api, "list Pods", PodReading.ON_NODES, PodReading.OF_USING, found -> {
            JsonObject pod = found.kept();
            Optional<String> node = JsonParts.text(pod, "spec", "nodeName")
                    .filter(name -> !name.isEmpty() && !PodReading.hasEnded(pod));
            String namespace = JsonParts.text(pod, "metadata", "namespace").orElse("");
            node.ifPresent(name ->
                    of(pod, namespace, shown).forEach(dataset -> each.accept(new Use(dataset, name, namespace))));
        });
    }

    @Override
    public void eachReplica(BiConsumer<VolumeId.Dataset, String> each) {
        boolean _ = ObjectParts.list(api, "list DatasetReplicas", REPLICAS, OF_REPLICA, found -> {
            try {
                DatasetReplica.Order order = DatasetReplica.Order.ofSpec(
                        JsonParts.object(found.kept(), "spec").orElseGet(JsonObject::new));
                if (order.wanted()) {
                    each.accept(order.volume().forNobody(), order.node());
                }
            } catch (DriverException.InvalidRequest _) {
                // no order that a node follows
            }
        });
    }

    private Shown shown(Set<VolumeId.Dataset> datasets) {
        // one object for each dataset, however many volumes it has
        Map<VolumeId.Dataset, VolumeId.Dataset> wanted =
                datasets.stream().collect(Collectors.toMap(Function.identity(), Function.identity()));
        Map<String, VolumeId.Dataset> claims = new HashMap<>();
        volumes.eachOfDatasets(
                (claim, dataset) -> Optional.ofNullable(wanted.get(dataset)).ifPresent(one -> claims.put(claim, one)));
        Map<String, Set<VolumeId.Dataset>> pods = new HashMap<>();
        GivenDatasets.each(
                api,
                given -> Optional.ofNullable(wanted.get(given.dataset()))
                        .ifPresent(one -> pods.computeIfAbsent(given.podUid(), _ -> new HashSet<>())
                                .add(one)));
        return new Shown(claims, pods);
    }

    private Set<VolumeId.Dataset> of(JsonObject pod, String namespace, Shown shown) {
        Set<VolumeId.Dataset> found = new HashSet<>(
                shown.pods().getOrDefault(JsonParts.text(pod, "metadata", "uid").orElse(""), Set.of()));
        for (GatedPod.Use use : reading.uses(pod)) {
            switch (use) {
                case GatedPod.Use.Claimed(var claim) ->
                    Optional.ofNullable(shown.claims().get(namespace + "/" + claim))
                            .ifPresent(found::add);
                case GatedPod.Use.Named _ -> {
                    // it counts when it was given what it names
                }
            }
        }
        return found;
    }

    /// What else the status says stays.
    @Override
    public void report(String name, DatasetUse use) {
        List<DatasetObject.OnNode> nodes = use.nodes().stream()
                .map(node -> new DatasetObject.OnNode(
                        node.node(),
                        node.pods(),
                        node.namespaces(),
                        node.moreNamespaces() > 0 ? Long.valueOf(node.moreNamespaces()) : null))
                .toList();
        KubernetesDatasets.patch(api, name, DatasetObject.Status.of(use.pods(), nodes, use.moreNodes()));
    }
}

package dev.siphon.controller.kubernetes;

import dev.siphon.controller.monitor.MonitorStore;
import dev.siphon.csi.Monitors;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// The monitors as a ConfigMap for nodes: an entry per cluster, in the form of `mon_host`.
final class KubernetesMonitorStore implements MonitorStore {
    /// The ConfigMap, in the driver's namespace.
    static final String NAME = "siphon-monitors";

    /// Field manager for server-side apply.
    private static final String FIELD_MANAGER = "siphon-controller";

    private final KubernetesApi api;
    private final String what;

    KubernetesMonitorStore(KubernetesApi api) {
        this.api = api;
        this.what = "ConfigMap " + api.namespace() + "/" + NAME;
    }

    @Override
    public Map<String, List<String>> last() {
        Map<String, List<String>> last = new TreeMap<>();
        api.find(
                        "get " + what,
                        server -> server.configMaps()
                                .inNamespace(api.namespace())
                                .withName(NAME)
                                .get())
                .map(ConfigMap::getData)
                .flatMap(Optional::ofNullable)
                .orElse(Map.of())
                .forEach((cluster, monitors) -> last.put(cluster, Monitors.split(monitors)));
        return last;
    }

    @Override
    public void publish(Map<String, List<String>> monitors) {
        Map<String, String> data = new TreeMap<>();
        monitors.forEach((cluster, list) -> data.put(cluster, String.join(",", list)));
        ConfigMap wanted = new ConfigMapBuilder()
                .withNewMetadata()
                .withName(NAME)
                .withLabels(Map.of(KeySecret.MANAGED_BY, KeySecret.SIPHON))
                .endMetadata()
                .withData(data)
                .build();
        var _ = api.change(
                "apply " + what,
                List.of(),
                server -> server.configMaps()
                        .inNamespace(api.namespace())
                        .resource(wanted)
                        .fieldManager(FIELD_MANAGER)
                        .forceConflicts()
                        .serverSideApply());
    }
}

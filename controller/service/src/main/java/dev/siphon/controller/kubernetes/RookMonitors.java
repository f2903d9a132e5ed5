package dev.siphon.controller.kubernetes;

import dev.siphon.controller.monitor.MonitorSource;
import dev.siphon.controller.monitor.RookEndpoints;
import dev.siphon.csi.DriverException;
import io.fabric8.kubernetes.api.model.ConfigMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The monitors of a Rook cluster, from the ConfigMap that Rook keeps for its own drivers. It contains no secret.
final class RookMonitors implements MonitorSource {
    private final KubernetesApi api;
    private final String namespace;

    /// @param namespace of Rook's cluster
    RookMonitors(KubernetesApi api, String namespace) {
        this.api = api;
        this.namespace = namespace;
    }

    @Override
    public List<String> read() {
        ConfigMap found = api.find(
                        "get " + where(),
                        server -> server.configMaps()
                                .inNamespace(namespace)
                                .withName(RookEndpoints.NAME)
                                .get())
                .orElseThrow(() -> new DriverException.NotFound("there is no " + where()
                        + ": is that the namespace of Rook's CephCluster? `kubectl get cephclusters -A` shows it"));
        return RookEndpoints.monitors(Optional.ofNullable(found.getData()).orElse(Map.of()));
    }

    @Override
    public String where() {
        return "ConfigMap " + namespace + "/" + RookEndpoints.NAME;
    }
}

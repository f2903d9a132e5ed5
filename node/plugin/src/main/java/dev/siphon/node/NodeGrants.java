package dev.siphon.node;

import dev.siphon.csi.server.DriverProcess;
import dev.siphon.node.grant.CachedGrants;
import dev.siphon.node.grant.GrantsFile;
import dev.siphon.node.grant.NamespacePlaces;
import dev.siphon.node.grant.PublishCheck;
import dev.siphon.node.kubernetes.GrantsConfigMap;
import dev.siphon.node.kubernetes.NamespaceAccessApi;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.Optional;

/// The check of grants, with the connections of its source.
///
/// @param check runs at each publish
/// @param api the connections to the API; empty if it is not used
record NodeGrants(PublishCheck check, Optional<Api> api) {
    /// @param map closed when the process ends
    /// @param access likewise
    record Api(CachedGrants cached, GrantsConfigMap map, NamespaceAccessApi access) {}

    static NodeGrants from(GrantsSourceOption source, PrometheusRegistry metrics) {
        return switch (source) {
            case GrantsSourceOption.Nowhere _ ->
                new NodeGrants(
                        new PublishCheck(Optional.empty(), NamespacePlaces.NONE, Optional.empty()), Optional.empty());
            case GrantsSourceOption.File(var file) ->
                new NodeGrants(
                        new PublishCheck(Optional.of(new GrantsFile(file)), NamespacePlaces.NONE, Optional.empty()),
                        Optional.empty());
            case GrantsSourceOption.Api(var access, var namespace) -> {
                GrantsConfigMap map = new GrantsConfigMap(access, namespace);
                CachedGrants cached = new CachedGrants(map, metrics);
                NamespaceAccessApi own = new NamespaceAccessApi(access);
                yield new NodeGrants(
                        new PublishCheck(Optional.of(cached), own, Optional.of(namespace)),
                        Optional.of(new Api(cached, map, own)));
            }
        };
    }

    /// Starts the work that must not delay the first RPC.
    void begin(DriverProcess process) {
        api.ifPresent(reached -> {
            process.closeAtEnd("Kubernetes API", reached.map());
            process.closeAtEnd("namespace access", reached.access());
            reached.cached().prefetch();
        });
    }

    /// Returns a warning for the administrator while pods are served; empty if there is none.
    Optional<String> remark() {
        return api.flatMap(reached -> reached.cached().remark());
    }
}

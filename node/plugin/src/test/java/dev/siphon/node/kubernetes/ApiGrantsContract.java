package dev.siphon.node.kubernetes;

import dev.siphon.node.grant.CachedGrants;
import dev.siphon.node.grant.GrantsSource;
import dev.siphon.node.grant.GrantsSourceContract;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/// The contract of grants read from an API, wired as in a node.
abstract class ApiGrantsContract extends GrantsSourceContract {
    private GrantsConfigMap map = new GrantsConfigMap(new ApiAccess.Kubeconfig(Path.of("/nowhere")), "none");
    private CachedGrants source = new CachedGrants(map, new PrometheusRegistry());

    /// Returns the access to the API under test.
    abstract ApiAccess access();

    /// Returns the namespace in which [#publish] publishes.
    abstract String namespace();

    @BeforeEach
    final void connect() {
        map = new GrantsConfigMap(access(), namespace());
        source = new CachedGrants(map, new PrometheusRegistry());
    }

    @AfterEach
    final void disconnect() {
        map.close();
    }

    @Override
    protected final GrantsSource source() {
        return source;
    }

    @Override
    protected final String place() {
        return "ConfigMap siphon-grants of namespace " + namespace();
    }
}

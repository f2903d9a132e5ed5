package dev.siphon.controller.kubernetes;

import dev.siphon.controller.grant.GrantsStore;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The grants as a ConfigMap, which the node pods mount as a file. Its text is that of
/// [dev.siphon.controller.grant.FileGrantsStore], and contains no secret.
final class KubernetesGrantsStore implements GrantsStore {
    /// The ConfigMap, in the driver's namespace.
    static final String NAME = "siphon-grants";

    /// The file in it.
    static final String FILE = "grants.json";

    /// Largest size of a ConfigMap, in bytes (Kubernetes, "ConfigMaps": 1 MiB).
    static final int MOST = 1 << 20;

    private static final Logger LOG = LoggerFactory.getLogger(KubernetesGrantsStore.class);

    /// Field manager for server-side apply.
    private static final String FIELD_MANAGER = "siphon-controller";

    private final KubernetesApi api;
    private final String what;
    private final ObjectEvents events;

    /// @param driver the CSI driver's name
    KubernetesGrantsStore(KubernetesApi api, String driver) {
        this.api = api;
        this.events = new ObjectEvents(api, driver);
        this.what = "ConfigMap " + api.namespace() + "/" + NAME;
    }

    @Override
    public Grants last() {
        Optional<String> text = api.find(
                        "get " + what,
                        server -> server.configMaps()
                                .inNamespace(api.namespace())
                                .withName(NAME)
                                .get())
                .flatMap(found -> Optional.ofNullable(found.getData()))
                .map(data -> data.get(FILE));
        try {
            return text.map(Grants::parse).orElse(Grants.NONE);
        } catch (DriverException.BackendFault broken) {
            LOG.warn("{} is broken and is written again: {}", what, broken.getMessage());
            return Grants.NONE;
        }
    }

    @Override
    public long mostBytes() {
        return MOST;
    }

    /// Always true: nodes find the rest in the NamespaceAccess of each namespace.
    @Override
    public boolean isPartial() {
        return true;
    }

    @Override
    public void warn(String why) {
        String path = "api/v1/namespaces/" + api.namespace() + "/configmaps/" + NAME;
        events.warn(what, path, ObjectEvents.NEARLY_FULL, why);
    }

    @Override
    public String where() {
        return what;
    }

    @Override
    public void publish(Grants grants) {
        String text = grants.toJson();
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MOST) {
            throw new DriverException.QuotaExhausted("the grants of all accounts and namespaces take " + bytes
                    + " bytes, and " + what + " can hold " + MOST
                    + ": take back those that nobody needs, see docs/reference/objects.md");
        }
        ConfigMap wanted = new ConfigMapBuilder()
                .withNewMetadata()
                .withName(NAME)
                .withLabels(Map.of(KeySecret.MANAGED_BY, KeySecret.SIPHON))
                .endMetadata()
                .withData(Map.of(FILE, text))
                .build();
        // creates or updates it; other keys in it stay
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

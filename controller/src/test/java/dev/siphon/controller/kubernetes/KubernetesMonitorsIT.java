package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.csi.DriverException;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("kubernetes")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class KubernetesMonitorsIT extends KubernetesMonitorsContract {
    private static final String RULE = "siphon-monitors";

    private TestCluster cluster;

    @BeforeAll
    void start(@TempDir Path folder) {
        cluster = KubernetesLab.start(folder);
    }

    @AfterAll
    void stop() {
        cluster.close();
    }

    @Override
    TestCluster cluster() {
        return cluster;
    }

    @Override
    void letRead(String rookNamespace) {
        var _ = cluster.admin()
                .resource(new RoleBuilder()
                        .withNewMetadata()
                        .withNamespace(rookNamespace)
                        .withName(RULE)
                        .endMetadata()
                        .addToRules(new PolicyRuleBuilder()
                                .withApiGroups("")
                                .withResources("configmaps")
                                .withResourceNames("rook-ceph-mon-endpoints")
                                .withVerbs("get")
                                .build())
                        .build())
                .create();
        var _ = cluster.admin()
                .resource(new RoleBindingBuilder()
                        .withNewMetadata()
                        .withNamespace(rookNamespace)
                        .withName(RULE)
                        .endMetadata()
                        .withNewRoleRef("rbac.authorization.k8s.io", "Role", RULE)
                        .addNewSubject()
                        .withKind("ServiceAccount")
                        .withName("siphon-controller")
                        .withNamespace(cluster.access().namespace())
                        .endSubject()
                        .build())
                .create();
    }

    @Test
    void withoutTheRuleRooksConfigMapIsNobodysToRead() {
        try (KubernetesAdapter adapter = cluster.adapter()) {
            assertThrows(
                    DriverException.AccessDenied.class,
                    () -> adapter.rookMonitors("rook-ceph").read());
        }
    }
}

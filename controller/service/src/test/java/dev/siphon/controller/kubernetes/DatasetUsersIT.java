package dev.siphon.controller.kubernetes;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("kubernetes")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class DatasetUsersIT extends DatasetUsersContract {
    private TestCluster cluster;

    @BeforeAll
    void start(@TempDir Path folder) {
        cluster = KubernetesLab.start(folder);
        KubernetesLab.serveDatasets(cluster.admin());
        KubernetesLab.serveAccesses(cluster.admin());
        KubernetesLab.serveReplicas(cluster.admin());
    }

    @AfterAll
    void stop() {
        KubernetesLab.endReplicas(cluster.admin());
        KubernetesLab.endAccesses(cluster.admin());
        KubernetesLab.endDatasets(cluster.admin());
        cluster.close();
    }

    @Override
    TestCluster cluster() {
        return cluster;
    }
}

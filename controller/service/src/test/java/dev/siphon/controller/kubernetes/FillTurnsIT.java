package dev.siphon.controller.kubernetes;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("kubernetes")
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class FillTurnsIT extends FillTurnsContract {
    private TestCluster cluster;

    @BeforeAll
    void start(@TempDir Path folder) {
        cluster = KubernetesLab.start(folder);
        KubernetesLab.serveReplicas(cluster.admin());
    }

    @AfterAll
    void stop() {
        KubernetesLab.endReplicas(cluster.admin());
        cluster.close();
    }

    @Override
    TestCluster cluster() {
        return cluster;
    }
}

package dev.siphon.controller.kubernetes;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class OtherGatesTest extends OtherGatesContract {
    private TestCluster cluster;

    @BeforeAll
    void start(@TempDir Path folder) {
        cluster = TestCluster.inMemory(folder);
        var _ = cluster.admin().raw("/api/v1/nodes", "POST", """
                {"apiVersion": "v1", "kind": "Node",
                 "metadata": {"name": "node-1", "labels": {"kubernetes.io/os": "linux"}},
                 "status": {"allocatable": {"cpu": "64", "pods": "110"},
                            "conditions": [{"type": "Ready", "status": "True"}]}}
                """);
    }

    @AfterAll
    void stop() {
        cluster.close();
    }

    @Override
    TestCluster cluster() {
        return cluster;
    }
}

package dev.siphon.controller.kubernetes;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class FillTurnsTest extends FillTurnsContract {
    private TestCluster cluster;

    @BeforeAll
    void start(@TempDir Path folder) {
        cluster = TestCluster.inMemory(folder);
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

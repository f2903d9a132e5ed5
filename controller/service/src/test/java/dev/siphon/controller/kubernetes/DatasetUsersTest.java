package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.csi.BackgroundTasks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class DatasetUsersTest extends DatasetUsersContract {
    private final InMemoryApiServer server = new InMemoryApiServer();
    private TestCluster cluster;

    @BeforeAll
    void start(@TempDir Path folder) {
        cluster = TestCluster.inMemory(folder, server);
    }

    @AfterAll
    void stop() {
        cluster.close();
    }

    @Override
    TestCluster cluster() {
        return cluster;
    }

    private long requests(Runnable step) {
        long before = server.requests();
        step.run();
        return server.requests() - before;
    }

    @Test
    void whoUsesADatasetIsKnownWithoutARequest() throws Exception {
        declare();
        claim("digits", volume().forUse("0123456789av"));
        try (AutoCloseable _ = adapter().follow(new BackgroundTasks(), Set.of())) {
            CephLab.await(Duration.ofSeconds(20), () -> requests(this::look) == 0);
            for (int looks = 0; looks < 100; looks++) {
                assertEquals(0, requests(this::look));
            }
        }
    }
}

package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
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

    /// The figures in docs/datasets.md.
    @Test
    void podsAreListedWhereSomebodyHasAVolumeOfADataset() {
        assertEquals(1, requests(this::look), "no dataset");
        declare();
        assertEquals(4, requests(this::look), "no volume: datasets, PersistentVolumes, accesses; and written once");
        assertEquals(3, requests(this::look));
        claim("digits", volume().forClaim("0123456789av"));
        assertEquals(4, requests(this::look));
    }
}

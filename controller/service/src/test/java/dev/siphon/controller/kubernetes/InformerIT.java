package dev.siphon.controller.kubernetes;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The connection runs through a relay that can drop traffic.
@Tag("kubernetes")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class InformerIT extends InformerContract {
    private TestCluster cluster;
    private Relay relay;
    private KubernetesAccess access;

    @BeforeAll
    void start(@TempDir Path folder) throws IOException {
        cluster = KubernetesLab.start(folder);
        KubernetesLab.serveReplicas(cluster.admin());
        relay = Relay.to(cluster.access());
        access = relay.access(cluster.access(), folder);
    }

    @AfterAll
    void stop() {
        relay.close();
        KubernetesLab.endReplicas(cluster.admin());
        cluster.close();
    }

    @Override
    TestCluster cluster() {
        return cluster;
    }

    @Override
    KubernetesAccess access() {
        return access;
    }

    /// If all requests shared one HTTP/2 connection, nothing would get through any more.
    @Test
    void aWatchThatIsDroppedWithoutAWordIsReplaced() throws InterruptedException {
        create("one");
        Informer<String> informer = informer();
        follow(informer);
        await(informer, "one true");
        relay.forget();
        change("one");
        create("two");
        await(informer, "one false", "two true");
    }
}

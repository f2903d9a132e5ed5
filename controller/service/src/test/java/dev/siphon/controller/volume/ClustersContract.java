package dev.siphon.controller.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// The contract of [Clusters], for the adapter and the fake, with one cluster, which is the default.
public abstract class ClustersContract {
    private final String cluster;
    private final String fileSystem;

    /// @param cluster a cluster to test with
    /// @param fileSystem a file system of that cluster
    protected ClustersContract(String cluster, String fileSystem) {
        this.cluster = cluster;
        this.fileSystem = fileSystem;
    }

    protected abstract Clusters clusters();

    @Test
    final void theOnlyClusterIsTheDefault() {
        assertTrue(clusters().ids().contains(cluster));
        assertEquals(cluster, clusters().defaultCluster());
    }

    @Test
    final void aClusterHasMonitorsAndFileSystems() {
        assertFalse(clusters().monitors(cluster).isEmpty());
        Clusters.FileSystem found = clusters().fileSystems(cluster).stream()
                .filter(each -> each.name().equals(fileSystem))
                .findFirst()
                .orElseThrow();
        assertFalse(found.dataPools().isEmpty());
        assertEquals(clusters().fileSystems(cluster), clusters().fileSystems(cluster));
    }

    @Test
    final void aHealthyClusterHasNoTrouble() {
        assertEquals(Optional.empty(), clusters().trouble(cluster, Duration.ofSeconds(30)));
    }

    @Test
    final void anUnknownClusterIsRefusedWithThoseThereAre() {
        for (var call : java.util.List.<Runnable>of(
                () -> clusters().monitors("nowhere"), () -> clusters().fileSystems("nowhere"))) {
            var refused = assertThrows(DriverException.InvalidRequest.class, call::run);
            assertTrue(String.valueOf(refused.getMessage()).contains(cluster), refused.getMessage());
        }
    }
}

package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.e2e.lab.CephSubvolumes;
import dev.siphon.e2e.lab.Command;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// What is left after the last namespace with volumes is deleted. Runs after all classes that use such namespaces.
@Tag("kubernetes")
@AloneOnCluster
@Order(1)
final class LeftoversIT {
    private static final Cluster CLUSTER = Cluster.here();

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @BeforeAll
    static void useAndDelete() {
        siphon = Installation.in(CLUSTER);
        try (Tenant tenant = Tenant.ofAccount(CLUSTER, 19)) {
            var _ = tenant.claim("data", "1Gi");
            var _ = tenant.pod("writer", "echo hello >/data/file")
                    .withClaim("data")
                    .create()
                    .succeeded();
        }
    }

    @Test
    void noPersistentVolumeIsLeft() {
        assertEquals(List.of(), CLUSTER.client().persistentVolumes().list().getItems());
    }

    @Test
    void noSecretOfAVolumeIsLeft() {
        assertEquals(List.of(), siphon.keySecrets());
    }

    @Test
    void noSubvolumeIsLeftInCeph() {
        assertEquals(List.of(), CephSubvolumes.all());
    }

    @Test
    void anAuditFindsNothing() {
        Command.Result found = siphon.siphon("audit", "--json", "--pause", "3");

        assertEquals(0, found.exit(), found::output);
        assertEquals("", found.output().strip());
    }

    /// A container that restarts again and again waits ever longer.
    @Test
    void noSidecarWasRestarted() {
        assertEquals(0, siphon.restartsOfSidecars());
    }
}

package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.e2e.lab.Await;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// One command uninstalls Siphon and leaves nothing behind. Runs before ReinstallIT and LostKubernetesIT only.
@Tag("kubernetes")
@AloneOnCluster
@Order(3)
final class UninstallIT {
    private static final Cluster CLUSTER = Cluster.here();

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @BeforeAll
    static void uninstall() {
        siphon = Installation.in(CLUSTER);
        siphon.uninstall();
    }

    @Test
    void noObjectIsLeft() {
        // kubectl lists nothing at all if it does not know one of the kinds
        String snapshotClasses = CLUSTER.tryKubectl("get", "crd", "volumesnapshotclasses.snapshot.storage.k8s.io")
                                .exit()
                        == 0
                ? ",volumesnapshotclasses"
                : "";
        String kinds = "all,secrets,configmaps,csidrivers,storageclasses,clusterroles" + snapshotClasses;

        assertEquals(
                List.of(),
                CLUSTER.kubectl("get", kinds, "-A", "-o", "name")
                        .lines()
                        .filter(each -> each.toLowerCase(Locale.ROOT).contains("siphon"))
                        .toList());
    }

    @Test
    void theNodeHasNoDriver() {
        var _ = Await.until(
                "the kubelet forgets the driver",
                Cluster.PATIENCE,
                () -> siphon.driversOfNode().isEmpty());
    }

    @Test
    void nothingIsMountedOnTheNode() {
        assertEquals(List.of(), CLUSTER.cephMounts());
    }

    @Test
    void noKeyIsLeftInCeph() {
        assertEquals(
                List.of(),
                CLUSTER.cephIdentities()
                        .filter(identity -> identity.startsWith("client.siphon."))
                        .toList());
    }
}

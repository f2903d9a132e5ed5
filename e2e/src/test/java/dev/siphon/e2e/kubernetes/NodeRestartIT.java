package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The node's pod is made anew under a pod that reads and writes. Over ceph-fuse, as here, mounts end with it;
/// docs/limitations.md says
/// what is true then.
@Tag("kubernetes")
@AloneOnCluster
final class NodeRestartIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String TICKING = "while :; do echo tick >/data/tick && cat /data/tick; sleep 1; done 2>&1";

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @BeforeAll
    static void restart() {
        Installation siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 52);
        var _ = tenant.claim("data", "1Gi");
        var _ = tenant.pod("writer", "echo hello >/data/file")
                .withClaim("data")
                .create()
                .succeeded();
        var _ = ticking("ticker").says("^tick");
        assertTrue(
                CLUSTER.cephMounts().stream().anyMatch(each -> each.endsWith("/globalmount")),
                () -> CLUSTER.cephMounts().toString());
        siphon.restartNodes();
    }

    @AfterAll
    static void end() {
        tenant.close();
    }

    private static TestPod ticking(String name) {
        return tenant.pod(name, TICKING).withClaim("data").create();
    }

    @Test
    void thePodThatRunsIsNoLongerConnected() {
        var _ = tenant.podCalled("ticker").says("not connected");
    }

    /// Ceph waits a minute for the client that died without a word before it gives another one what that held.
    @Test
    void podsAfterItHaveTheVolume() {
        TestPod after = tenant.pod("after", "cat /data/file && echo again >/data/tick")
                .withClaim("data")
                .create();

        assertEquals("hello", after.succeeded().log().strip());
        var _ = ticking("anew").says("^tick");
        assertTrue(tenant.podCalled("ticker").lastLine().contains("not connected"));
    }
}

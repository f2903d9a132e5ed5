package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Reinstalls Siphon: its policies apply, and Jobs may be created. An API server may cache a deleted policy
/// (kubernetes/kubernetes#130887).
@Tag("kubernetes")
@AloneOnCluster
@Order(4)
final class ReinstallIT {
    private static final Cluster CLUSTER = Cluster.here();

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @BeforeAll
    static void installAgain() {
        siphon = Installation.in(CLUSTER);
        SnapshotController.addTo(siphon, CLUSTER);
        siphon.uninstall();
        siphon.apply();
    }

    @AfterAll
    static void uninstall() {
        siphon.uninstall();
    }

    /// The API server applies the policy again after some seconds.
    @Test
    void thePolicyForPackersHolds() {
        var _ = Await.until("a forged packer is refused", Cluster.PATIENCE, () -> {
            Command.Result forged = PackerJob.forged(CLUSTER, PackerJob.Forgery.MORE_COMPLETIONS)
                    .tryCreate(CLUSTER);
            return forged.exit() != 0 && forged.output().matches("(?s).*siphon-packers.* one pod of one container.*");
        });
        Command.Result packer = PackerJob.real(CLUSTER).tryCreate(CLUSTER);
        assertEquals(0, packer.exit(), packer::output);
    }

    @Test
    void anybodyMayCreateJobs() {
        Command.Result job =
                CLUSTER.tryKubectl("create", "job", "anybody", "--image=siphon.test/pause:1", "--dry-run=server");

        assertEquals(0, job.exit(), job::output);
    }
}

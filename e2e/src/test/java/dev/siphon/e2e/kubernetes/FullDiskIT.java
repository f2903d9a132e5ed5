package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Command;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Gated pods whose dataset is larger than the disk: they read it from CephFS.
@Tag("kubernetes")
@AloneOnCluster
final class FullDiskIT {
    private static final Cluster CLUSTER = Cluster.here();

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @BeforeAll
    static void fillDisk() {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 24);
        dataset = SealedDataset.seal(CLUSTER, tenant).declare(tenant.account());
        siphon.setNodeEnvironment("SIPHON_CACHE_DIRS=" + GpuMachine.cache(0) + "=64Ki");
    }

    @AfterAll
    static void end() {
        siphon.setNodeEnvironment(GpuMachine.environment("1Gi").toArray(String[]::new));
        tenant.close();
        dataset.delete();
    }

    @Test
    void aPodIsLetGoWhenItsDiskIsFull() {
        TestPod pod = tenant.pod("full", "cat /data/two/7")
                .withDataset(dataset.reference())
                .gated()
                .create();

        var _ = dataset.awaitReplicas(
                "the replica has failed",
                all -> all.stream().anyMatch(each -> "Failed".equals(each.get("status", "state"))));
        assertTrue(pod.succeeded().log().contains("seven"));
        var _ = pod.told("^DatasetNotWarm: .*cannot be filled where the pod may run");
    }

    @Test
    void anAdministratorSeesWhatAPodAtTheGateWaitsFor() {
        TestPod pod = tenant.pod("asked", "cat /data/two/7")
                .withDataset(dataset.reference())
                .gated()
                .create();
        var _ = pod.told("^DatasetWarming: ");
        var _ = dataset.awaitReplicas(
                "the replica has failed",
                all -> all.stream().anyMatch(each -> "Failed".equals(each.get("status", "state"))));

        Command.Result why = siphon.siphon("why", "u24/asked");

        assertTrue(
                why.output()
                        .strip()
                        .matches("pod u24/asked waits at the gate for dataset u24.digits: failed: .+ on node "
                                + CLUSTER.node() + "; it waits until 20[0-9T:.-]+Z at most, .+"),
                why::output);
        pod.delete();
    }

    @Test
    void aPodWaitsNoLongerThanItWants() {
        TestPod pod = tenant.pod("hasty", "cat /data/two/7")
                .withDataset(dataset.reference())
                .withAnnotation("siphon.dev/max-wait", "5s")
                .gated()
                .create();

        var _ = pod.told(
                "^DatasetNotWarm: .*is not whole where the pod will run after 5 s|^DatasetNotWarm: .*cannot be filled");
        var _ = pod.succeeded();
    }
}

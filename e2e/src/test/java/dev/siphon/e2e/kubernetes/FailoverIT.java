package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephSubvolumes;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimList;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The leading controller is killed in the middle of its work, and the other one takes over.
@Tag("kubernetes")
@AloneOnCluster
final class FailoverIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final int CLAIMS = 50;
    private static final int BEFORE_THE_KILL = 5;

    @SuppressWarnings("NullAway.Init")
    private Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private Tenant tenant;

    @BeforeEach
    void prepare() {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 51);
    }

    @AfterEach
    void end() {
        tenant.close();
        siphon.rolledOut();
    }

    @Test
    void fiftyClaimsGetAVolumeEachAndNoneIsLeftOver() throws Exception {
        String before;
        try (ExecutorService claiming = Executors.newSingleThreadExecutor()) {
            var claims = claiming.submit(
                    () -> IntStream.rangeClosed(1, CLAIMS).forEach(number -> tenant.claim("many-" + number, "1Gi")));
            var _ = CLUSTER.awaitAll("the first claims", all(), each -> bound(each) >= BEFORE_THE_KILL);

            before = siphon.killLeader();
            long boundByThen = bound(all().list().getItems());
            assertTrue(boundByThen < CLAIMS, "the leader was killed when all was done");
            claims.get();
        }

        var _ = CLUSTER.awaitAll("all claims", all(), each -> bound(each) == CLAIMS);
        // its container may have restarted and led until its pod was gone
        var _ = Await.until("another leads", Cluster.PATIENCE, () -> !before.equals(siphon.leader()));
        String group = tenant.claimCalled("many-1").subvolume().group() + "/";
        List<String> known = IntStream.rangeClosed(1, CLAIMS)
                .mapToObj(number ->
                        tenant.claimCalled("many-" + number).subvolume().toString())
                .sorted()
                .toList();
        assertEquals(
                known,
                CephSubvolumes.all().stream()
                        .filter(each -> each.startsWith(group))
                        .toList());
    }

    private NonNamespaceOperation<PersistentVolumeClaim, PersistentVolumeClaimList, Resource<PersistentVolumeClaim>>
            all() {
        return CLUSTER.client().persistentVolumeClaims().inNamespace(tenant.namespace());
    }

    private static long bound(List<PersistentVolumeClaim> claims) {
        return claims.stream()
                .filter(each -> "Bound".equals(each.getStatus().getPhase()))
                .count();
    }

    @Test
    void podsThatWaitAtTheGateAreLetGoByTheOther() {
        SealedDataset dataset = SealedDataset.seal(CLUSTER, tenant).declare(tenant.account());
        TestJob job = tenant.pod("orphans", "cat /data/two/7")
                .withDataset(dataset.reference())
                .gated()
                .createJob(4, 4);

        var _ = siphon.killLeader();

        var _ = job.complete();
        job.delete();
        dataset.delete();
    }
}

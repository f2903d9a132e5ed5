package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephSubvolumes;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A user claims a volume, pods write and read it, and it is deleted with its claim.
@Tag("kubernetes")
@OnCluster
final class ClaimsIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String TICKING = "while :; do echo tick >/data/tick && cat /data/tick; sleep 1; done 2>&1";

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static TestClaim claim;

    @BeforeAll
    static void claimAndWrite() {
        var _ = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 11);
        claim = tenant.claim("data", "1Gi");
        var _ = tenant.pod("writer", "echo hello >/data/file && stat -c %u:%g /data/file && df -h /data")
                .withClaim("data")
                .create()
                .succeeded();
    }

    @AfterAll
    static void end() {
        tenant.close();
    }

    @Test
    void whatAPodWritesIsTheAccounts() {
        assertEquals(
                "10011:10011",
                tenant.podCalled("writer").log().lines().findFirst().orElse(""));
    }

    @Test
    void anotherPodReadsIt() {
        TestPod reader =
                tenant.pod("reader", "cat /data/file").withClaim("data").create();

        assertEquals("hello", reader.succeeded().log().strip());
    }

    @Test
    void theVolumeSaysWhoseItIs() {
        String described =
                CLUSTER.kubectl("describe", "pv", claim.volume().getMetadata().getName());

        assertTrue(described.contains("owner=u11"), described);
    }

    @Test
    void itsSubvolumeSaysWhoseItIs() {
        TestClaim.Subvolume place = claim.subvolume();
        var _ = Await.until(
                "metadata of " + place, Cluster.PATIENCE, () -> metadata(place).contains("cephfs.siphon.dev/account"));

        assertEquals(
                Map.of(
                        "csi.storage.k8s.io/pv/name",
                        claim.volume().getMetadata().getName(),
                        "csi.storage.k8s.io/pvc/namespace",
                        tenant.namespace(),
                        "csi.storage.k8s.io/pvc/name",
                        "data",
                        "cephfs.siphon.dev/account",
                        "u11"),
                new Gson().fromJson(metadata(place), Map.class));
    }

    private static String metadata(TestClaim.Subvolume place) {
        return CLUSTER.ceph(
                "fs",
                "subvolume",
                "metadata",
                "ls",
                CLUSTER.lab().fileSystem(),
                place.name(),
                "--group_name",
                place.group());
    }

    @Test
    void itsKeyIsASecretInTheDriversNamespace() {
        String volume = claim.volume().getMetadata().getName();

        assertNotNull(CLUSTER.client()
                .secrets()
                .inNamespace(Installation.NAMESPACE)
                .withName(volume)
                .get());
    }

    @Test
    void aClaimThatIsDeletedUnderItsPodGoesWithThePod() {
        TestClaim kept = tenant.claim("kept", "1Gi");
        TestPod keeper =
                tenant.pod("keeper", TICKING).withClaim("kept").create().ready();
        String volume = kept.volume().getMetadata().getName();
        TestClaim.Subvolume subvolume = kept.subvolume();

        var _ = kept.resource().delete();

        assertTrue(
                CLUSTER.kubectl("-n", tenant.namespace(), "get", "pvc", "kept").contains("Terminating"));
        assertEquals("still", keeper.run("sh", "-c", "echo still >/data/still && cat /data/still"));

        keeper.delete();

        var _ = CLUSTER.await(
                "the end of " + volume, CLUSTER.client().persistentVolumes().withName(volume), each -> each == null);
        assertFalse(CephSubvolumes.all().contains(subvolume.toString()), subvolume::toString);
    }

    @Test
    void aNamespaceThatIsDeletedUnderItsPodEnds() {
        Tenant leaving = Tenant.ofAccount(CLUSTER, 12);
        var _ = leaving.claim("data", "1Gi");
        var _ = leaving.pod("ticker", TICKING).withClaim("data").create().ready();

        leaving.close();
    }
}

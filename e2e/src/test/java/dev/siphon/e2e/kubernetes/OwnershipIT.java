package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Who owns the volumes that a namespace claims; no one reaches another account's volume.
@Tag("kubernetes")
@OnCluster
final class OwnershipIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String CLASS = "by-annotation";
    private static final long LAB_GID = 20_001;

    @SuppressWarnings("NullAway.Init")
    private static Tenant vision;

    @BeforeAll
    static void prepare() {
        var _ = Installation.in(CLUSTER);
        StorageClasses.derive(CLUSTER, CLASS, Map.of("owner", "namespace-annotation:siphon.dev/account"));
        vision = Tenant.of(
                CLUSTER, "vision", 13, Map.of("siphon.dev/account", "u13", "siphon.dev/owners", "u14,group:lab"));
    }

    @AfterAll
    static void end() {
        vision.close();
        StorageClasses.delete(CLUSTER, CLASS);
    }

    @Test
    void aClaimIsTheNamespacesAccounts() {
        assertEquals("u13", claim("plain").bound().attribute("owner"));
    }

    @Test
    void orThatOfOneThatTheNamespaceLists() {
        assertEquals("u14", claimFor("other", "u14").bound().attribute("owner"));
    }

    @Test
    void oneThatItDoesNotListIsRefused() {
        var _ = claimFor("stranger", "u1").told("code = PermissionDenied desc = .*");
    }

    /// With the gid among a pod's supplementary groups, as docs/how-to/volumes.md says.
    @Test
    void aGroupsVolumeIsForTheMembersProcesses() {
        assertGroupShares(vision, claimFor("shared", "group:lab"), UnaryOperator.identity());
    }

    /// Checks that each pod with the group's gid writes to the volume and reads what others wrote, and that no other
    /// pod does.
    static void assertGroupShares(Tenant tenant, TestClaim claim, UnaryOperator<PodRequest> place) {
        for (long uid : List.of(10_013L, 10_014L)) {
            var _ = place.apply(inGroup(tenant, "writes-" + uid, "umask 002; id >/data/" + uid + "; sync")
                            .as(uid)
                            .withClaim(claim.name()))
                    .create()
                    .succeeded();
        }
        TestPod lists = place.apply(inGroup(tenant, "lists", "stat -c '%n %u:%g %a' /data/1*; echo more >>/data/10014")
                        .as(10_013)
                        .withClaim(claim.name()))
                .create()
                .succeeded();
        assertEquals(
                "/data/10013 10013:" + LAB_GID + " 664\n/data/10014 10014:" + LAB_GID + " 664",
                lists.log().strip());
        TestPod stranger = place.apply(tenant.pod("stranger", "ls /data || echo refused; id >/data/x || echo refused")
                        .as(10_013)
                        .withClaim(claim.name()))
                .create()
                .succeeded();
        assertEquals(2, stranger.log().lines().filter("refused"::equals).count(), stranger::log);
    }

    private static PodRequest inGroup(Tenant tenant, String name, String script) {
        return tenant.pod(name, script)
                .with(spec -> spec.editOrNewSecurityContext()
                        .withSupplementalGroups(LAB_GID)
                        .endSecurityContext());
    }

    private static TestClaim claim(String name) {
        return vision.claim(
                name,
                "1Gi",
                claim -> claim.editSpec().withStorageClassName(CLASS).endSpec());
    }

    private static TestClaim claimFor(String name, String owner) {
        return vision.claim(
                name,
                "1Gi",
                claim -> claim.editMetadata()
                        .addToAnnotations("siphon.dev/owner", owner)
                        .endMetadata()
                        .editSpec()
                        .withStorageClassName(CLASS)
                        .endSpec());
    }

    /// Those who may write PersistentVolumes can name any volume in one; the node checks the owner.
    @Test
    void aVolumeInThePersistentVolumeOfAnotherNamespaceIsNotMounted() {
        try (Tenant owner = Tenant.ofAccount(CLUSTER, 15);
                Tenant thief = Tenant.ofAccount(CLUSTER, 16)) {
            var volume = owner.claim("data", "1Gi").bound().volume();
            var _ = CLUSTER.client()
                    .persistentVolumes()
                    .resource(stolen(volume, "stolen"))
                    .create();
            var _ = thief.claim(
                    "stolen",
                    "1Gi",
                    claim -> claim.editSpec()
                            .withStorageClassName("")
                            .withVolumeName("stolen")
                            .endSpec());

            TestPod pod = thief.pod("thief", "ls /data")
                    .as(owner.uid())
                    .withClaim("stolen")
                    .create();

            var _ = pod.told("code = PermissionDenied desc = .*");
            pod.delete();
            thief.claimCalled("stolen").delete();
            var _ = CLUSTER.client().persistentVolumes().withName("stolen").delete();
        }
    }

    /// Returns a PersistentVolume that leads to the volume of another one.
    static PersistentVolume stolen(PersistentVolume volume, String name) {
        return new PersistentVolumeBuilder(volume)
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .editSpec()
                .withClaimRef(null)
                .withStorageClassName("")
                .withPersistentVolumeReclaimPolicy("Retain")
                .endSpec()
                .withStatus(null)
                .build();
    }
}

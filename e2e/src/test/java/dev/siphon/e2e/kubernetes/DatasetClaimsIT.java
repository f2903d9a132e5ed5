package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Claims with a dataset in an annotation, in namespaces of its readers and of others.
@Tag("kubernetes")
@OnCluster
final class DatasetClaimsIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String READ = "cat /data/two/7; ls /data/one | wc -l; touch /data/new 2>&1";

    @SuppressWarnings("NullAway.Init")
    private static Tenant owner;

    /// Lists an account that is a reader.
    @SuppressWarnings("NullAway.Init")
    private static Tenant listing;

    @SuppressWarnings("NullAway.Init")
    private static Tenant stranger;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @BeforeAll
    static void claim() {
        var _ = Installation.in(CLUSTER);
        owner = Tenant.ofAccount(CLUSTER, 31);
        listing = Tenant.of(
                CLUSTER, "acoustics", 33, Map.of("siphon.dev/account", "u33", "siphon.dev/owners", "u32,group:lab"));
        stranger = Tenant.ofAccount(CLUSTER, 34);
        dataset = SealedDataset.seal(CLUSTER, owner).declare("u31", "u32");
        for (Tenant each : List.of(owner, listing)) {
            var _ = each.datasetClaim("digits", dataset.reference());
            var _ = each.pod("reader", READ).withClaim("digits").create();
        }
    }

    @AfterAll
    static void end() {
        stranger.close();
        listing.close();
        owner.close();
        dataset.delete();
    }

    @Test
    void kubectlShowsTheDataset() {
        String shown = CLUSTER.kubectl("get", "datasets", "-o", "wide");

        assertTrue(
                Pattern.compile("(?m)^u31\\.digits +true +/datasets/u31\\.digits +[0-9]+ +\\[\"u31\",\"u32\"\\]")
                        .matcher(shown)
                        .find(),
                shown);
    }

    @Test
    void aPodOfTheOwnerReadsItAndCannotWrite() {
        assertReads(owner.podCalled("reader"));
    }

    @Test
    void soDoesOneOfANamespaceThatListsAReader() {
        assertReads(listing.podCalled("reader"));
    }

    private static void assertReads(TestPod pod) {
        var _ = pod.says("Read-only file system");
        assertEquals(
                List.of("seven", "50"),
                pod.log().lines().map(String::strip).limit(2).toList());
    }

    @Test
    void aClaimInANamespaceWithoutAReaderIsRefused() {
        TestClaim claim = stranger.datasetClaim("digits", dataset.reference());

        var _ = claim.told("code = PermissionDenied desc = .*is no reader of dataset u31.digits");
    }

    @Test
    void eachClaimHasAVolumeOfItsOwn() {
        String one = handle(owner);
        String other = handle(listing);

        assertTrue(one.startsWith("dataset:"), one);
        assertTrue(other.startsWith("dataset:"), other);
        assertNotEquals(one, other);
    }

    private static String handle(Tenant tenant) {
        return tenant.claimCalled("digits").bound().volume().getSpec().getCsi().getVolumeHandle();
    }
}

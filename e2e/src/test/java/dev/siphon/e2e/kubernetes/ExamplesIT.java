package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import dev.siphon.e2e.lab.Command;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The examples of deploy/examples/kubernetes for homes, growing volumes, quotas and StatefulSets.
@Tag("kubernetes")
@OnCluster
final class ExamplesIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final long HALF_A_GIBIBYTE = 512L << 20;

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static Examples examples;

    @BeforeAll
    static void prepare() {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 18);
        examples = new Examples(tenant);
    }

    @AfterAll
    static void end() {
        tenant.close();
        Command.Result deleted = siphon.siphon("home", tenant.account(), "--delete", "--yes");
        assertEquals(0, deleted.exit(), deleted::output);
    }

    @Test
    void aHomeOutlivesItsClaim() {
        examples.apply("home.yaml");
        var _ = examples.pod("home").succeeded();
        examples.pod("home").delete();
        tenant.claimCalled("home").delete();

        examples.apply("home.yaml");

        assertEquals(
                List.of("was here", "was here"),
                examples.pod("home").succeeded().log().lines().toList());
    }

    @Test
    void aFullVolumeGrowsUnderThePodThatWrites() {
        examples.apply("expansion.yaml");
        TestPod growing = examples.pod("growing");
        var _ = growing.says("quota exceeded");

        tenant.claimCalled("growing").resize("512Mi");

        TestClaim.Subvolume subvolume = tenant.claimCalled("growing").subvolume();
        String info = CLUSTER.ceph(
                "fs", "subvolume", "info", CLUSTER.lab().fileSystem(), subvolume.name(), subvolume.group());
        assertEquals(
                HALF_A_GIBIBYTE,
                JsonParser.parseString(info)
                        .getAsJsonObject()
                        .get("bytes_quota")
                        .getAsLong());
        var _ = growing.succeeded();
    }

    @Test
    void aJobOverItsQuotaFailsAndSaysWhy() {
        examples.apply("over-quota.yaml");

        var _ = examples.job("over-quota").failed();

        String described = CLUSTER.kubectl(
                "-n", tenant.namespace(), "describe", "pods", "-l", "batch.kubernetes.io/job-name=over-quota");
        assertTrue(described.contains("quota exceeded"), described);
    }

    @Test
    void aReplicaThatIsReplacedFindsItsVolumeAgain() {
        KubernetesClient client = CLUSTER.client();
        examples.apply("statefulset.yaml");
        var _ = CLUSTER.await(
                "both replicas",
                client.apps().statefulSets().inNamespace(tenant.namespace()).withName("server"),
                set -> set != null && Integer.valueOf(2).equals(set.getStatus().getReadyReplicas()));
        TestPod replica = examples.pod("server-0");
        String uid = replica.resource().get().getMetadata().getUid();

        replica.remove();

        var _ = CLUSTER.await(
                "another server-0",
                replica.resource(),
                pod -> pod != null && !uid.equals(pod.getMetadata().getUid()));
        assertEquals("server-0\nserver-0", replica.ready().run("cat", "/state/starts"));
        assertEquals("server-1", examples.pod("server-1").run("cat", "/state/starts"));
    }
}

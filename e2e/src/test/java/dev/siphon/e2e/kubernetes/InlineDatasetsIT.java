package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Command;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Pods that name a dataset themselves in two fields: no claim, no PersistentVolume, no Secret.
@Tag("kubernetes")
@OnCluster
final class InlineDatasetsIT {
    private static final Cluster CLUSTER = Cluster.here();

    @SuppressWarnings("NullAway.Init")
    private static Tenant owner;

    @SuppressWarnings("NullAway.Init")
    private static Tenant stranger;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @SuppressWarnings("NullAway.Init")
    private static TestPod named;

    @BeforeAll
    static void name() {
        var _ = Installation.in(CLUSTER);
        owner = Tenant.ofAccount(CLUSTER, 37);
        stranger = Tenant.ofAccount(CLUSTER, 38);
        dataset = SealedDataset.seal(CLUSTER, owner).declare(owner.account());
        named = owner.pod("named", "cat /data/two/7; ls /data/one | wc -l; touch /data/new 2>&1; sleep 600")
                .withDataset(dataset.reference())
                .create();
        var _ = named.says("Read-only file system");
    }

    @AfterAll
    static void end() {
        stranger.close();
        owner.close();
        dataset.delete();
    }

    @Test
    void aReaderReadsItAndCannotWrite() {
        assertEquals(
                List.of("seven", "50"),
                named.log().lines().map(String::strip).limit(2).toList());
    }

    @Test
    void theNodeAsksTheControllerForThePod() {
        String shown = CLUSTER.kubectl("-n", owner.namespace(), "get", "datasetaccesses");

        assertTrue(Pattern.compile("u37/digits +named").matcher(shown).find(), shown);
    }

    @Test
    void noKeyCanBeReadFromTheAnswer() {
        String all = CLUSTER.kubectl("-n", owner.namespace(), "get", "datasetaccesses", "-o", "json");

        assertTrue(all.contains("sealedKey"), all);
        assertFalse(Pattern.compile("AQ[A-Za-z0-9+/]{38}==").matcher(all).find(), "a key");
    }

    @Test
    void whoIsNoReaderIsRefused() {
        TestPod pod = stranger.pod("stranger", "cat /data/two/7")
                .withDataset(dataset.reference())
                .create();

        var _ = pod.told("code = PermissionDenied desc = .*is no reader of dataset u37.digits");
    }

    @Test
    void anotherAttributeIsRefused() {
        TestPod pod = stranger.pod("mistaken", "true")
                .withAttributes(Map.of("owner", owner.account()))
                .create();

        var _ = pod.told("code = InvalidArgument desc = .*may contain only dataset");
    }

    /// Rejects even an administrator, who could name any node and any pod.
    @Test
    void onlyThePodsOwnNodeAsks() {
        GenericKubernetesResource forged = dataset.accesses().getFirst();
        forged.setMetadata(new ObjectMetaBuilder()
                .withName("csi-forged")
                .withNamespace(owner.namespace())
                .build());
        forged.getAdditionalProperties().remove("status");

        String refused = String.valueOf(assertThrows(
                        KubernetesClientException.class,
                        () -> CLUSTER.client().resource(forged).create())
                .getMessage());

        assertTrue(refused.matches("(?s).*asked by the siphon-node of the pod.s own node.*"), refused);
    }

    /// Rejects even those who may do everything in a namespace.
    @Test
    void onlyTheControllerAnswers() {
        Command.Result result = CLUSTER.tryKubectl(
                "-n",
                owner.namespace(),
                "patch",
                "datasetaccess",
                dataset.accesses().getFirst().getMetadata().getName(),
                "--subresource=status",
                "--type=merge",
                "-p",
                "{\"status\": {\"request\": \"forged\"}}");

        assertNotEquals(0, result.exit(), result::output);
        assertTrue(result.output().contains("answered by siphon-controller alone"), result::output);
    }
}

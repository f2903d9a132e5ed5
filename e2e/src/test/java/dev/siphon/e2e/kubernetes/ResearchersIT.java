package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// What a user sees who has only the role `edit`, in one namespace.
@Tag("kubernetes")
@OnCluster
final class ResearchersIT {
    private static final Cluster CLUSTER = Cluster.here();

    @SuppressWarnings("NullAway.Init")
    private static Tenant own;

    @SuppressWarnings("NullAway.Init")
    private static Tenant other;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @SuppressWarnings("NullAway.Init")
    private static String token;

    @BeforeAll
    static void makeAResearcher() {
        var _ = Installation.in(CLUSTER);
        own = Tenant.ofAccount(CLUSTER, 74);
        other = Tenant.ofAccount(CLUSTER, 75);
        dataset = SealedDataset.seal(CLUSTER, own).declare(own.account(), other.account());
        var _ = CLUSTER.kubectl("-n", own.namespace(), "create", "serviceaccount", "researcher");
        var _ = CLUSTER.kubectl(
                "-n",
                own.namespace(),
                "create",
                "rolebinding",
                "researcher",
                "--clusterrole=edit",
                "--serviceaccount=" + own.namespace() + ":researcher");
        token = CLUSTER.kubectl("-n", own.namespace(), "create", "token", "researcher")
                .strip();
        var _ = Await.until(
                "the object of the namespace",
                Cluster.PATIENCE,
                () -> CLUSTER.tryKubectl("-n", own.namespace(), "get", "namespaceaccess", "siphon")
                                .exit()
                        == 0);
        var _ = Await.until(
                "the role edit has what Siphon adds to it",
                Cluster.PATIENCE,
                () -> asResearcher("auth", "can-i", "get", "namespaceaccesses", "-n", own.namespace())
                                .exit()
                        == 0);
    }

    @AfterAll
    static void end() {
        own.close();
        other.close();
        dataset.delete();
    }

    private static Command.Result asResearcher(String... words) {
        // a kubeconfig's own user would override the token
        return CLUSTER.tryKubectl(Stream.concat(
                        Stream.of(
                                "--kubeconfig=/dev/null",
                                "--server=" + CLUSTER.server(),
                                "--certificate-authority=" + CLUSTER.certificateAuthority(),
                                "--token=" + token),
                        Stream.of(words))
                .toArray(String[]::new));
    }

    /// Returns the columns of a namespace's object from `kubectl get -o wide`.
    private static String shown(Tenant tenant) {
        return CLUSTER.kubectl("-n", tenant.namespace(), "get", "namespaceaccess", "siphon", "-o", "wide");
    }

    private static String seen() {
        Command.Result seen = asResearcher("-n", own.namespace(), "get", "namespaceaccess", "-o", "wide");
        assertEquals(0, seen.exit(), seen::output);
        return seen.output();
    }

    @Test
    void whoMayEditANamespaceSeesItsDatasetsAndHowFarTheReplicasAre() {
        var _ = Await.until(
                "the dataset with its size",
                Cluster.PATIENCE,
                () -> seen().matches("(?s).*u74[.]digits [0-9.]+ MiB.*"));
        assertFalse(seen().contains(" on 1 node"), "nobody's pod uses it: " + seen());
        TestPod trainer = own.pod("trainer", "exec sleep 3600")
                .withDataset(dataset.reference())
                .gated()
                .create()
                .ready();

        var _ = Await.until(
                "the replica of the pod's dataset", Cluster.PATIENCE, () -> seen().contains("u74.digits on 1 node"));
        assertEquals(
                "1 0 100",
                asResearcher(
                                "-n",
                                own.namespace(),
                                "get",
                                "namespaceaccess",
                                "siphon",
                                "-o",
                                "jsonpath={.status.datasets[0].replicas.local} {.status.datasets[0].replicas.filling}"
                                        + " {.status.datasets[0].replicas.percent}")
                        .output()
                        .strip());
        String others = shown(other);
        assertTrue(others.contains("u74.digits"), others);
        assertFalse(others.contains(" on 1 node"), () -> "no pod of that namespace uses it: " + others);
        trainer.delete();
    }

    @Test
    void elsewhereAndAboveEverythingIsForbidden() {
        for (List<String> words : List.of(
                List.of("-n", other.namespace(), "get", "namespaceaccess"),
                List.of("get", "namespaceaccess", "-A"),
                List.of("get", "datasets"),
                List.of("get", "datasetreplicas"),
                List.of("get", "datasetwarmups"),
                List.of("get", "persistentvolumes"),
                List.of("-n", Installation.NAMESPACE, "get", "secrets"))) {
            Command.Result refused = asResearcher(words.toArray(String[]::new));
            assertNotEquals(0, refused.exit(), () -> words + ": " + refused.output());
            assertTrue(refused.output().contains("Forbidden"), () -> words + ": " + refused.output());
        }
    }

    @Test
    void nobodyButTheControllerWritesIt() {
        Command.Result refused = asResearcher("-n", own.namespace(), "delete", "namespaceaccess", "siphon");
        assertNotEquals(0, refused.exit(), refused::output);
        assertTrue(refused.output().contains("Forbidden"), refused::output);
        Command.Result patched = asResearcher(
                "-n",
                own.namespace(),
                "patch",
                "namespaceaccess",
                "siphon",
                "--type=merge",
                "-p",
                "{\"status\":{\"accountNames\":\"u75\"}}");
        assertTrue(patched.exit() != 0 && patched.output().contains("Forbidden"), patched::output);
    }
}

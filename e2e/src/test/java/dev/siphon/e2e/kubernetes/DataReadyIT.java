package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.kubernetes.KubectlSiphon.BundleFile;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Daemon;
import dev.siphon.e2e.lab.LabLdap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The pod condition `siphon.dev/DataReady`, and `kubectl siphon` with an administrator's rights.
@Tag("kubernetes")
@AloneOnCluster
final class DataReadyIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String CONDITION = "siphon.dev/DataReady";
    private static final String PLANTED = "planted";

    @TempDir
    private Path folder = Path.of("");

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @BeforeAll
    static void seal() {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 28);
        dataset = SealedDataset.seal(CLUSTER, tenant).declare(tenant.account());
    }

    @AfterAll
    static void end() {
        tenant.close();
        dataset.delete();
    }

    private static Optional<PodCondition> condition(Pod pod) {
        return pod.getStatus().getConditions().stream()
                .filter(each -> CONDITION.equals(each.getType()))
                .findFirst();
    }

    private static PodCondition awaitCondition(TestPod pod, String reason, String pattern) {
        Pattern message = Pattern.compile(pattern);
        return condition(CLUSTER.await(
                        reason + " of " + pod.name() + ": " + pattern,
                        pod.resource(),
                        each -> each != null
                                && condition(each)
                                        .filter(said -> reason.equals(said.getReason())
                                                && message.matcher(said.getMessage())
                                                        .matches())
                                        .isPresent()))
                .orElseThrow();
    }

    /// The disk is too small at first. The gate opens after 30 s, the pod reads from CephFS, and the disk grows under
    /// it.
    @Test
    void aPodIsToldWhatItWaitsForUntilItsDataIsOnItsDisk() {
        String node = Pattern.quote(CLUSTER.node());
        TestPod plain = tenant.pod("plain", "sleep 600").create();
        siphon.setNodeEnvironment("SIPHON_CACHE_DIRS=" + GpuMachine.cache(0) + "=64Ki");
        TestPod train = tenant.pod("train", "sleep 600")
                .withDataset(dataset.reference())
                .gated()
                .create();
        try {
            PodCondition waits = awaitCondition(
                    train,
                    "WaitsAtGate",
                    "pod u28/train waits at the gate for dataset u28\\.digits: .+ on node " + node
                            + "; it waits until 20[0-9T:.-]+Z at most, and then starts and reads from CephFS; .+");
            assertEquals("False", waits.getStatus());
            assertEquals(
                    "False",
                    awaitCondition(
                                    train.ready(),
                                    "ReadsFromCephFS",
                                    "pod u28/train reads dataset u28\\.digits"
                                            + " from CephFS until it is whole on a disk: .+ on node " + node + ".*")
                            .getStatus());
        } finally {
            siphon.setNodeEnvironment(GpuMachine.environment("1Gi").toArray(String[]::new));
        }
        CLUSTER.apply("", """
                apiVersion: siphon.dev/v1alpha1
                kind: DatasetWarmup
                metadata: {name: data-ready}
                spec: {dataset: %s}
                """.formatted(dataset.reference()));

        assertEquals(
                "True",
                awaitCondition(train, "OnDisk", "pod u28/train reads dataset u28\\.digits from a disk of node " + node)
                        .getStatus());
        var _ = CLUSTER.kubectl("-n", "u28", "wait", "pod/train", "--for=condition=" + CONDITION, "--timeout=10s");
        assertFalse(condition(plain.ready().resource().get()).isPresent(), "it reads no dataset");
        var _ = CLUSTER.client()
                .genericKubernetesResources("siphon.dev/v1alpha1", "DatasetWarmup")
                .withName("data-ready")
                .delete();
        train.delete();
        plain.delete();
    }

    @Test
    void theConditionHasTheWordsOfWhy() {
        TestPod pod = tenant.pod("mistaken", "true")
                .withDataset("u28/numbers")
                .gated()
                .create();
        PodCondition closed = awaitCondition(
                pod, "GateClosed", "pod u28/mistaken waits at the gate, which stays closed .*there is no dataset.*");
        var _ = pod.told("^DatasetNotReadable: ");

        assertEquals(
                closed.getMessage(),
                siphon.siphon("why", "u28/mistaken").output().strip());
        pod.delete();
    }

    @Test
    void theControllerWritesNothingElseOfAPodsStatus() throws Exception {
        TestPod pod = tenant.pod("moved", "sleep 600").create().ready();
        for (String change : List.of(
                "{\"status\": {\"message\": \"moved\"}}",
                "{\"status\": {\"phase\": \"Failed\"}}",
                "{\"status\": {\"conditions\": [{\"type\": \"Ready\", \"status\": \"False\"}]}}",
                "{\"metadata\": {\"labels\": {\"more\": \"of-it\"}}}")) {
            HttpResponse<String> refused = patchAsController(change);
            assertFalse(refused.isSuccessful(), change);
            assertTrue(refused.body().contains("nothing else of its status"), refused::body);
        }

        HttpResponse<String> taken = patchAsController(
                "{\"status\": {\"conditions\": [{\"type\": \"" + CONDITION + "\", \"status\": \"False\"}]}}");

        assertTrue(taken.isSuccessful(), taken::body);
        pod.delete();
    }

    /// Sends a patch as the controller does. `kubectl patch` reads the subresource first, which the controller may not.
    private static HttpResponse<String> patchAsController(String change) throws Exception {
        Config config = new ConfigBuilder(CLUSTER.client().getConfiguration())
                .withImpersonateUsername("system:serviceaccount:siphon:siphon-controller")
                .build();
        try (KubernetesClient controller = new KubernetesClientBuilder()
                .withConfig(config)
                .withHttpClientFactory(new JdkHttpClientFactory())
                .build()) {
            HttpClient http = controller.getHttpClient();
            return http.sendAsync(
                            http.newHttpRequestBuilder()
                                    .uri(CLUSTER.server() + "api/v1/namespaces/u28/pods/moved/status?dryRun=All")
                                    .method("PATCH", "application/strategic-merge-patch+json", change)
                                    .build(),
                            String.class)
                    .get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void eachSubcommandAnswers() {
        KubectlSiphon plugin = KubectlSiphon.in(folder);
        TestPod pod = tenant.pod("asked", "sleep 600").create().ready();
        assertSays("pod u28/asked runs on node " + CLUSTER.node(), plugin.run("why", "asked", "-n", "u28"));
        assertSays("pod u28/asked runs on node " + CLUSTER.node(), plugin.run("why", "u28/asked"));
        assertSays("pod         u28/asked (Running) on node", plugin.run("whois", "u28/asked"));
        assertSays("u28.digits", plugin.run("datasets"));
        assertSays("", plugin.run("replicas"));
        assertSays("u28", plugin.run("users", "u28"));
        assertSays("kubectl siphon debug [FILE]", plugin.run("--help"));
        Command.Result wrong = plugin.run("why", "u28/nothing");
        assertNotEquals(0, wrong.exit());
        assertTrue(wrong.output().contains("pod u28/nothing does not exist"), wrong::output);
        pod.delete();
    }

    private static void assertSays(String text, Command.Result result) {
        assertEquals(0, result.exit(), result::output);
        assertTrue(result.output().contains(text), result::output);
    }

    /// The secrets are in a ConfigMap, in a pod's arguments and in its log, in the namespace that the bundle shows.
    @Test
    void aBundleHasNoSecretAlsoWhileCephIsAway() throws IOException {
        KubectlSiphon plugin = KubectlSiphon.in(folder);
        TestPod user = tenant.pod("user", "sleep 600")
                .withClaim(tenant.claim("data", "1Gi").name())
                .create()
                .ready();
        List<String> secrets =
                List.of(cephKey(), Files.readString(LabLdap.passwordFile()).strip(), userKey());
        plant(secrets);
        try {
            check(plugin.debug("healthy"), secrets, "exit [01]\n");
            Daemon.MON.pause();
            try {
                check(plugin.debug("away"), secrets, "exit [1-9][0-9]*\n");
            } finally {
                Daemon.MON.resume();
            }
        } finally {
            var _ = CLUSTER.kubectl("-n", Installation.NAMESPACE, "delete", "pod,configmap", PLANTED, "--now");
        }
        user.delete();
    }

    private static String cephKey() throws IOException {
        return Files.readAllLines(siphon.folder().path().resolve("ceph/keyring")).stream()
                .filter(line -> line.contains("key = "))
                .map(line -> line.substring(line.indexOf('=') + 1).strip())
                .findFirst()
                .orElseThrow();
    }

    /// Returns the key of the tenant's volume.
    private static String userKey() {
        String encoded = CLUSTER.client()
                .secrets()
                .inNamespace(Installation.NAMESPACE)
                .withName(tenant.claimCalled("data").volume().getMetadata().getName())
                .get()
                .getData()
                .get("userKey");
        return new String(Base64.getDecoder().decode(Objects.requireNonNull(encoded)), StandardCharsets.UTF_8);
    }

    private static void plant(List<String> secrets) {
        CLUSTER.apply(Installation.NAMESPACE, """
                apiVersion: v1
                kind: ConfigMap
                metadata: {name: planted}
                data:
                  keyring: "[client.siphon]\\n\\tkey = %1$s\\n"
                  directory.json: '{"bindDn": "cn=siphon", "bindPassword": "%2$s"}'
                  secrets.yaml: "userKey: %3$s"
                """.formatted(secrets.toArray()));
        CLUSTER.apply(Installation.NAMESPACE, """
                apiVersion: v1
                kind: Pod
                metadata: {name: planted}
                spec:
                  restartPolicy: Never
                  containers:
                    - name: main
                      image: siphon.test/pause:1
                      imagePullPolicy: Never
                      command: [sh, -c, 'echo "mounted with secret=%1$s"; echo "password=%2$s"; echo "userKey: %3$s"; echo told']
                """.formatted(secrets.toArray()));
        Resource<Pod> pod =
                CLUSTER.client().pods().inNamespace(Installation.NAMESPACE).withName(PLANTED);
        var _ = CLUSTER.await(
                "the planted pod has ended",
                pod,
                each -> each != null && "Succeeded".equals(each.getStatus().getPhase()));
    }

    /// @param checked how `siphon check controller` ended
    private static void check(List<BundleFile> bundle, List<String> secrets, String checked) {
        for (BundleFile file : bundle) {
            for (String secret : secrets) {
                assertFalse(file.content().contains(secret), () -> "a secret is in " + file.name());
            }
        }
        assertContains(bundle, "logs/planted", "told");
        assertContains(bundle, "logs/planted", "userKey: \\*\\*\\*");
        assertContains(bundle, "configuration/configmaps\\.yaml", "bindPassword");
        assertContains(bundle, "configuration/deployments\\.yaml", "siphon-controller");
        assertContains(bundle, "versions/siphon-controller-.*", "siphon [0-9]");
        assertContains(bundle, "objects/datasets\\.yaml", "u28\\.digits");
        assertContains(bundle, "objects/datasetimports", "No resources found|PHASE");
        assertContains(bundle, "nodes/siphon-node-.*/mounts", "ceph");
        assertContains(bundle, "changes/leader", "holderIdentity");
        assertContains(bundle, "ceph/.*\\.check", ".");
        assertContains(bundle, "logs/siphon-node-.*", "\"message\"");
        assertContains(bundle, "steps", "ceph/siphon-controller-[^\t]*\\.check\t.*" + checked);
    }

    private static void assertContains(List<BundleFile> bundle, String name, String pattern) {
        assertTrue(
                bundle.stream()
                        .anyMatch(file -> file.name().matches(name)
                                && Pattern.compile(pattern)
                                        .matcher(file.content())
                                        .find()),
                () -> name + " with " + pattern + " in "
                        + bundle.stream().map(BundleFile::name).toList());
    }
}

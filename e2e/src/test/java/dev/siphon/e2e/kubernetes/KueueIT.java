package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Jobs in queues of a real Kueue whose admission check waits for their dataset.
@Tag("kubernetes")
@AloneOnCluster
final class KueueIT {
    private static final Cluster CLUSTER = Cluster.here();

    /// It takes a while at the slowest rate of fills.
    private static final int BYTES = 32 << 20;

    private static final String CONFIGURATION = """
            apiVersion: config.kueue.x-k8s.io/v1beta2
            kind: Configuration
            namespace: kueue-system
            health: {healthProbeBindAddress: '127.0.0.1:18081'}
            metrics: {bindAddress: '0'}
            webhook: {host: 10.96.0.21, port: 9443}
            leaderElection: {leaderElect: false}
            internalCertManagement:
              {enable: true, webhookServiceName: kueue-webhook-service, webhookSecretName: kueue-webhook-server-cert}
            integrations: {frameworks: [batch/job]}
            """;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private static Path folder;

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @BeforeAll
    static void begin() throws IOException {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 29);
        dataset = SealedDataset.sealRandom(CLUSTER, tenant, "large", BYTES).declare(tenant.account());
        var _ = CLUSTER.kubectl("label", "node", CLUSTER.node(), "nvidia.com/gpu.present=true");
        enable();
        startKueue();
        queues();
    }

    private static void startKueue() {
        LabOperator kueue = new LabOperator(CLUSTER, CLUSTER.lab().run().resolve("kueue"), "kueue");
        kueue.start(
                new LabOperator.Webhooks(
                        "kueue-system", "kueue-webhook-service", "kueue-webhook-server-cert", "10.96.0.21", 9443),
                "kueue --config=" + kueue.configuration(CONFIGURATION) + " --feature-gates=VisibilityOnDemand=false",
                """
                apiVersion: kueue.x-k8s.io/v1beta2
                kind: ResourceFlavor
                metadata: {name: probe}
                """);
    }

    @AfterAll
    static void end() {
        tenant.close();
        dataset.delete();
        siphon.setNodeEnvironment("SIPHON_FILL_RATE-");
        siphon.setControllerEnvironment("SIPHON_KUEUE-");
    }

    /// As the chart does with `kueue.enabled`.
    private static void enable() throws IOException {
        Path file = folder.resolve("enabled.yaml");
        var _ = Files.writeString(
                file,
                Stream.of(Chart.rendered("--set", "kueue.enabled=true").split("(?m)^---$", -1))
                        .filter(each -> each.contains("\n  name: siphon-workloads\n")
                                || each.contains("kind: ClusterRole\nmetadata:\n  name: siphon-controller\n"))
                        .collect(Collectors.joining("\n---\n")));
        var _ = CLUSTER.kubectl("apply", "-f", file.toString());
        siphon.setControllerEnvironment("SIPHON_KUEUE=true");
        siphon.setNodeEnvironment("SIPHON_FILL_RATE=1Mi");
    }

    /// The example's queue.
    private static void queues() {
        String example = new Examples(tenant).text("kueue.yaml");
        String queues = Stream.of(example.split("(?m)^---$", -1))
                .filter(each -> !each.contains("kind: Job\n"))
                .collect(Collectors.joining("---"));
        CLUSTER.apply(tenant.namespace(), queues);
    }

    @BeforeEach
    void onNoDisk() {
        dataset.evict(siphon);
    }

    private static QueuedJob job(String name, String queue, String reference) {
        CLUSTER.apply(tenant.namespace(), """
                apiVersion: batch/v1
                kind: Job
                metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: %s}}
                spec:
                  template:
                    spec:
                      restartPolicy: Never
                      securityContext: {runAsUser: %d, runAsGroup: %3$d}
                      containers:
                        - name: main
                          image: siphon.test/pause:1
                          imagePullPolicy: Never
                          command: [sh, -c, 'ls /data']
                          resources: {limits: {nvidia.com/gpu: 1}}
                          volumeMounts: [{name: data, mountPath: /data}]
                      volumes: [{name: data, %s}]
                """.formatted(
                        name,
                        queue,
                        tenant.uid(),
                        reference.isEmpty()
                                ? "emptyDir: {}"
                                : "csi: {driver: cephfs.siphon.dev, volumeAttributes: {dataset: " + reference + "}}"));
        return new QueuedJob(tenant, name);
    }

    private static TestJob job(String name) {
        return new TestJob(CLUSTER, tenant.namespace(), name);
    }

    private static void awaitWanted(boolean isWanted) {
        var _ = dataset.awaitReplicas(
                "the order is " + (isWanted ? "wanted" : "withdrawn"),
                all -> isWanted
                        ? all.stream().anyMatch(KueueIT::isWanted)
                        : all.stream().noneMatch(KueueIT::isWanted));
    }

    private static boolean isWanted(GenericKubernetesResource replica) {
        return Boolean.TRUE.equals(replica.<Boolean>get("spec", "wanted"));
    }

    @Test
    void aWorkloadHoldsItsQuotaUntilItsDataIsThere() {
        CLUSTER.apply(
                tenant.namespace(),
                Stream.of(new Examples(tenant).text("kueue.yaml").split("(?m)^---$", -1))
                        .filter(each -> each.contains("kind: Job\n"))
                        .collect(Collectors.joining("---"))
                        .replace("u1/imagenet-v1", dataset.reference())
                        .replace("image: siphon", "imagePullPolicy: Never\n          image: siphon"));
        QueuedJob workload = new QueuedJob(tenant, "queued");

        var _ = workload.awaitCheck(
                "Pending: dataset u29.large: 0 of 1 replicas, [1-9][0-9]? percent, about [0-9]+ s left");
        assertTrue(workload.has("QuotaReserved"));
        assertFalse(workload.has("Admitted"));
        assertEquals(List.of(), job("queued").pods());

        var _ = workload.awaitCheck("Ready: dataset u29.large is on a disk of " + CLUSTER.node());
        TestJob done = job("queued").complete();
        assertEquals(List.of("1", "1"), done.log());
        assertEquals(2, done.events("DatasetWarm").size());
        awaitWanted(false);
        done.delete();
    }

    @Test
    void aDeletedOrDeactivatedWorkloadFreesItsOrder() {
        QueuedJob deleted = job("deleted", "training", dataset.reference());
        var _ = deleted.awaitCheck("Pending: dataset u29.large: 0 of 1 replicas.*");
        awaitWanted(true);
        job("deleted").delete();
        awaitWanted(false);

        QueuedJob idle = job("idle", "training", dataset.reference());
        awaitWanted(true);
        var _ = CLUSTER.kubectl(
                "-n",
                tenant.namespace(),
                "patch",
                "workloads.kueue.x-k8s.io",
                idle.name(),
                "--type=merge",
                "-p",
                "{\"spec\":{\"active\":false}}");
        awaitWanted(false);
        job("idle").delete();
    }

    @Test
    void aWorkloadOfADatasetThatItMayNotReadIsRejected() {
        QueuedJob stranger = job("stranger", "training", "u1/secret");

        var _ = stranger.awaitCheck("Rejected: its pods cannot run: there is no dataset .u1.secret.*");
        assertEquals(List.of(), job("stranger").pods());
        assertTrue(dataset.replicas().stream().noneMatch(KueueIT::isWanted));
        job("stranger").delete();
    }
}

package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Command;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Jobs in queues of a real Kueue whose admission check waits for their dataset.
@Tag("kubernetes")
@AloneOnCluster
final class KueueIT {
    private static final Cluster CLUSTER = Cluster.here();

    /// It takes a while at the slowest rate of fills.
    private static final int BYTES = 32 << 20;

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    /// Takes long enough for its quota to be released.
    @SuppressWarnings("NullAway.Init")
    private static SealedDataset cold;

    @BeforeAll
    static void begin() {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 29);
        dataset = SealedDataset.sealRandom(CLUSTER, tenant, "large", BYTES).declare(tenant.account());
        cold = SealedDataset.sealRandom(CLUSTER, tenant, "cold", 3 * BYTES).declare(tenant.account());
        var _ = CLUSTER.kubectl("label", "node", CLUSTER.node(), "nvidia.com/gpu.present=true");
        LabKueue.enable(CLUSTER, siphon);
        siphon.setNodeEnvironment("SIPHON_FILL_RATE=1Mi");
        LabKueue.start(CLUSTER, "batch/job");
        LabKueue.queue(tenant);
        releasingCheck();
        queue("one", "{name: dataset-release}");
        queue("two", "{name: dataset}, {name: dataset-release}");
    }

    @AfterAll
    static void end() {
        tenant.close();
        dataset.delete();
        cold.delete();
        siphon.setNodeEnvironment("SIPHON_FILL_RATE-");
        LabKueue.disable(siphon);
    }

    @BeforeEach
    void onNoDisk() {
        dataset.evict(siphon);
        cold.evict(siphon);
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
                LabKueue.job(tenant)
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
        patch(idle.name(), "{\"spec\":{\"active\":false}}");
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

    /// A check that has Workloads give their quota back while their data loads.
    private static void releasingCheck() {
        CLUSTER.apply(tenant.namespace(), """
                apiVersion: siphon.dev/v1alpha1
                kind: DatasetCheck
                metadata: {name: release}
                spec: {whileLoading: release}
                ---
                apiVersion: kueue.x-k8s.io/v1beta2
                kind: AdmissionCheck
                metadata: {name: dataset-release}
                spec:
                  controllerName: siphon.dev/dataset
                  parameters: {apiGroup: siphon.dev, kind: DatasetCheck, name: release}
                """);
    }

    /// A queue of one GPU.
    private static void queue(String name, String checks) {
        CLUSTER.apply(tenant.namespace(), """
                apiVersion: kueue.x-k8s.io/v1beta2
                kind: ClusterQueue
                metadata: {name: %1$s}
                spec:
                  namespaceSelector: {}
                  resourceGroups:
                    - coveredResources: [nvidia.com/gpu]
                      flavors: [{name: gpu, resources: [{name: nvidia.com/gpu, nominalQuota: 1}]}]
                  admissionChecksStrategy: {admissionChecks: [%2$s]}
                ---
                apiVersion: kueue.x-k8s.io/v1beta2
                kind: LocalQueue
                metadata: {name: %1$s}
                spec: {clusterQueue: %1$s}
                """.formatted(name, checks));
    }

    /// Waits until this Job, which reads the cold dataset, is released.
    private static QueuedJob released(String name) {
        QueuedJob job = job(name, "one", cold.reference());
        var _ = job.awaitCheck("Pending: others may use its quota until its data is there: dataset u29.cold: 0 of 1.*");
        assertFalse(job.has("QuotaReserved"));
        return job;
    }

    @Test
    void anotherJobUsesTheQuotaWhileTheDataLoads() {
        QueuedJob first = released("first");

        var _ = job("second", "one", "");
        TestJob second = job("second").complete();
        assertFalse(first.has("QuotaReserved"), "its data loads for longer than the second job takes");
        assertTrue(cold.replicas().stream().anyMatch(KueueIT::isWanted));
        onlyItsSwitchIsSiphons(first.name());

        TestJob done = job("first").complete();
        assertEquals(List.of("cold"), done.log());
        awaitNoMark(first);
        second.delete();
        done.delete();
    }

    @Test
    void aReleasedWorkloadIsActivatedByTheNextLeader() {
        QueuedJob job = released("orphan");

        var _ = siphon.killLeader();

        TestJob done = job("orphan").complete();
        assertEquals(List.of("cold"), done.log());
        awaitNoMark(job);
        done.delete();
        siphon.rolledOut();
    }

    /// Kueue lists the states of both in the Workload.
    @Test
    void twoChecksOfAQueueAreBothAnswered() {
        QueuedJob job = job("twice", "two", dataset.reference());

        job.awaitCondition("Admitted", "");
        TestJob done = job("twice").complete();
        assertEquals(List.of("large"), done.log());
        done.delete();
    }

    /// Its user would rather hold the quota than wait without it.
    @Test
    void aReleasedWorkloadThatItsUserActivatesKeepsItsQuota() {
        QueuedJob job = released("impatient");

        patch(job.name(), "{\"spec\":{\"active\":true}}");

        var _ = job.awaitCheck("Pending: dataset u29.cold: 0 of 1.*");
        assertTrue(job.has("QuotaReserved"));
        awaitNoMark(job);
        TestJob done = job("impatient").complete();
        assertEquals(List.of("cold"), done.log());
        done.delete();
    }

    /// Its longest wait ends while it is released. Kueue 0.17 does not queue what it deactivated for a check, although
    /// somebody activates it: so it is deleted, and Kueue makes a new one for the job.
    @Test
    void aReleasedWorkloadThatIsRejectedBeginsAnewOnceItIsDeleted() {
        CLUSTER.apply(tenant.namespace(), """
                apiVersion: siphon.dev/v1alpha1
                kind: DatasetCheck
                metadata: {name: release}
                spec: {whileLoading: release, maxWait: 40s, then: reject}
                """);
        QueuedJob job = released("late");
        var _ = job.awaitCheck("Rejected: its longest wait is over: .*");
        job.awaitCondition("Evicted", "DeactivatedDueToAdmissionCheck");
        var _ = job.await("waits anew if it is activated", workload -> {
            String wait = workload.getMetadata().getAnnotations().getOrDefault("siphon.dev/data-wait", "");
            return wait.contains("released") && !wait.contains("since");
        });

        releasingCheck();
        var _ = CLUSTER.kubectl("-n", tenant.namespace(), "delete", "workloads.kueue.x-k8s.io", job.name());

        var _ = job.awaitCheck("Pending: dataset u29.cold: 0 of 1.*");
        TestJob done = job("late").complete();
        assertEquals(List.of("cold"), done.log());
        done.delete();
    }

    private static void awaitNoMark(QueuedJob job) {
        var _ = job.await(
                "is not marked as released",
                workload -> !workload.getMetadata().getAnnotations().containsKey("siphon.dev/released"));
    }

    /// @param released a Workload that is released now
    private static void onlyItsSwitchIsSiphons(String released) {
        assertRefused(released, "{\"spec\":{\"priority\":7}}");
        assertRefused(released, "{\"spec\":{\"active\":true}}");
        assertRefused(released, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
        assertRefused(
                released,
                "{\"metadata\":{\"annotations\":{\"siphon.dev/released\":null,\"a\":\"b\"}},\"spec\":{\"active\":true}}");
        QueuedJob other = job("other", "one", "");
        other.awaitCondition("Admitted", "");
        assertRefused(other.name(), "{\"spec\":{\"active\":false}}");
        patch(other.name(), "{\"spec\":{\"active\":false}}");
        assertRefused(other.name(), "{\"spec\":{\"active\":true}}");
        job("other").delete();
    }

    private static void assertRefused(String workload, String change) {
        Command.Result result = CLUSTER.tryKubectl(
                "--as=system:serviceaccount:siphon:siphon-controller",
                "--as-group=system:masters", // kubectl reads what it patches, which the controller may not
                "-n",
                tenant.namespace(),
                "patch",
                "workloads.kueue.x-k8s.io",
                workload,
                "--type=merge",
                "-p",
                change);
        assertNotEquals(0, result.exit(), change);
        assertTrue(result.output().contains("siphon-controller may"), result::output);
    }

    private static void patch(String workload, String change) {
        var _ = CLUSTER.kubectl(
                "-n", tenant.namespace(), "patch", "workloads.kueue.x-k8s.io", workload, "--type=merge", "-p", change);
    }
}

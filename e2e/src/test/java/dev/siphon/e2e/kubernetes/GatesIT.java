package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Await;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NodeAffinity;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Pods that wait at the gate until their dataset is on a disk of a node where they can run.
@Tag("kubernetes")
@OnCluster
final class GatesIT {
    private static final Cluster CLUSTER = Cluster.here();

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @BeforeAll
    static void seal() {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 21);
        dataset = SealedDataset.seal(CLUSTER, tenant).declare(tenant.account());
    }

    @AfterAll
    static void end() {
        tenant.close();
        dataset.delete();
    }

    @BeforeEach
    void onNoDisk() {
        dataset.evict(siphon);
    }

    @Test
    void podsAreLetGoWhenTheirDatasetIsOnADisk() {
        TestJob job = tenant.pod("waiting", "cat /data/two/7")
                .withDataset(dataset.reference())
                .withGpus(1)
                .gated()
                .createJob(6, 6)
                .complete();

        List<String> told = job.events("DatasetWarm");
        assertEquals(6, told.size(), told::toString);
        assertTrue(told.getFirst().contains("dataset u21.digits is on a disk of "), told::toString);
        assertEquals(
                List.of("Local 100"),
                dataset.replicas().stream().map(GatesIT::progress).toList());
        assertEquals("kubernetes.io/hostname", preference(job.pods().getFirst()));
        var _ = Await.until(
                "each pod is told once how long it waited with its GPU, and what the gate spared it",
                Cluster.PATIENCE,
                () -> job.events("DatasetWait").stream()
                        .map(GatesIT::isReceipt)
                        .toList()
                        .equals(Collections.nCopies(6, true)));

        job.delete();

        var _ = dataset.awaitReplicas(
                "the replica stays when nobody waits for it",
                all -> all.size() == 1
                        && Boolean.FALSE.equals(all.getFirst().<Boolean>get("spec", "wanted"))
                        && "Local 100".equals(progress(all.getFirst())));
    }

    private static boolean isReceipt(String event) {
        return event.matches("\\S+: with its GPUs \\(.+\\) the pod waited [0-9]+\\.[0-9] s until it could read dataset"
                + " [0-9a-f]{12}; it reads the replica in /var/lib/siphon/[^;]+; estimate: the gate or a warmup"
                + " spared it up to [0-9]+\\.[0-9] s, in which that replica was filled");
    }

    private static String progress(GenericKubernetesResource replica) {
        return replica.get("status", "state") + " " + replica.get("status", "percent");
    }

    private static String preference(Pod pod) {
        return pod.getSpec()
                .getAffinity()
                .getNodeAffinity()
                .getPreferredDuringSchedulingIgnoredDuringExecution()
                .getFirst()
                .getPreference()
                .getMatchExpressions()
                .getFirst()
                .getKey();
    }

    /// The API server and Siphon's admission policy both take the change.
    @Test
    void aPodThatRequiresItsDatasetRunsOnlyWhereThatIs() {
        TestJob job = tenant.pod("bound", "cat /data/two/7")
                .withDataset(dataset.reference())
                .withAnnotation("siphon.dev/placement", "required")
                .gated()
                .createJob(1, 1)
                .complete();

        NodeAffinity affinity = job.pods().getFirst().getSpec().getAffinity().getNodeAffinity();
        assertEquals(
                List.of(CLUSTER.node()),
                affinity.getRequiredDuringSchedulingIgnoredDuringExecution()
                        .getNodeSelectorTerms()
                        .getFirst()
                        .getMatchExpressions()
                        .getFirst()
                        .getValues());
        assertEquals(List.of(), affinity.getPreferredDuringSchedulingIgnoredDuringExecution());
        assertTrue(job.events("DatasetWarm").getFirst().endsWith("; the pod may run nowhere else"));
        job.delete();
    }

    @Test
    void theExamplesRanksReadTheirDatasetFromADisk() {
        Examples examples = new Examples(tenant);
        CLUSTER.apply(tenant.namespace(), examples.text("gpu.yaml").replace("u1/imagenet-v1", dataset.reference()));

        TestJob job = examples.job("gpu").complete();

        assertTrue(
                job.log().stream().anyMatch(line -> line.endsWith(" bytes of 51 files")),
                () -> String.join("\n", job.log()));
        assertEquals(2, job.events("DatasetWarm").size());
        job.delete();
    }
}

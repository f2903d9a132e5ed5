package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Ranks of an MPIJob learn MNIST, and pods of a JobSet read it, both in a queue of a real Kueue whose check asks for
/// the
/// dataset. The ranks run as the image's user 1000, so both are on nodes whose kernel maps that user to the account.
@Tag("kubernetes")
@AloneOnCluster
final class QueuedOperatorsIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String CLASS_FOR_MPI = "siphon-1000";
    private static final String QUEUE = "training";

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static List<KernelNode> guests;

    @SuppressWarnings("NullAway.Init")
    private static WarmMnist mnist;

    @BeforeAll
    static void warmThreeNodes() {
        siphon = Installation.in(CLUSTER);
        guests = List.of(KernelNode.join(siphon, CLUSTER), KernelNode.join(siphon, CLUSTER, 2));
        mnist = WarmMnist.of(CLUSTER, 68).on(3);
        StorageClasses.derive(CLUSTER, CLASS_FOR_MPI, Map.of("containerUser", "1000", "mounter", "kernel"));
        KubeflowOperators.startMpiOperator(CLUSTER);
        KubeflowOperators.startJobSet(CLUSTER);
        LabKueue.enable(CLUSTER, siphon);
        LabKueue.start(CLUSTER, "batch/job", "jobset.x-k8s.io/jobset", "kubeflow.org/mpijob");
        LabKueue.queue(mnist.tenant());
        var _ = CLUSTER.kubectl("cordon", CLUSTER.node());
    }

    @AfterAll
    static void end() {
        var _ = CLUSTER.kubectl("uncordon", CLUSTER.node());
        mnist.close();
        StorageClasses.delete(CLUSTER, CLASS_FOR_MPI);
        guests.forEach(KernelNode::leave);
        LabKueue.disable(siphon);
    }

    private static void assertAdmitted(String owner) {
        QueuedJob workload = new QueuedJob(mnist.tenant(), owner);
        var _ = workload.awaitCheck("Ready: dataset " + mnist.dataset().name() + " is on .*");
        workload.awaitCondition("Admitted", "");
    }

    @Test
    void ranksOfAnMpiJob() {
        RankedTraining ranks = mnist.training(
                "mpijob",
                "mpijobs.kubeflow.org",
                Map.of("training.kubeflow.org/job-name", "mpijob", "training.kubeflow.org/job-role", "worker"));

        var _ = ranks.startIn(
                QUEUE, Set.of(guests.getFirst().name(), guests.getLast().name()));
        assertAdmitted("mpijob");
        ranks.learnt(launchers()).kept().delete();
    }

    private static Stream<String> launchers() {
        return CLUSTER
                .awaitAll(
                        "the launcher",
                        CLUSTER.client()
                                .pods()
                                .inNamespace(mnist.tenant().namespace())
                                .withLabel("training.kubeflow.org/job-role", "launcher"),
                        pods -> !pods.isEmpty())
                .stream()
                .map(pod -> pod.getMetadata().getName());
    }

    @Test
    void podsOfAJobSet() {
        String namespace = mnist.tenant().namespace();
        CLUSTER.apply(
                namespace,
                new Examples(mnist.tenant())
                        .text("jobset.yaml")
                        .replace("u1/mnist-v1", mnist.dataset().reference()));

        assertAdmitted("jobset");
        for (String each : List.of("jobset-reader-0", "jobset-reader-1")) {
            TestJob job = new TestJob(CLUSTER, namespace, each);
            assertEquals(List.of("70000"), job.complete().log());
        }
        var _ = CLUSTER.kubectl("-n", namespace, "delete", "jobset", "jobset");
    }
}

package dev.siphon.e2e.kubernetes;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Two ranks on two nodes learn MNIST, started by a Job and by the real operators of Kubeflow. Each reads the pictures
/// from a disk of its own node; rank 0 writes the checkpoint to a volume that both have.
@Tag("kubernetes")
@AloneOnCluster
final class OperatorRunsIT {
    private static final Cluster CLUSTER = Cluster.here();

    @SuppressWarnings("NullAway.Init")
    private static KernelNode guest;

    @SuppressWarnings("NullAway.Init")
    private static WarmMnist mnist;

    @BeforeAll
    static void warmTwoNodes() {
        guest = KernelNode.join(Installation.in(CLUSTER), CLUSTER);
        mnist = WarmMnist.of(CLUSTER, 66).on(2);
    }

    @AfterAll
    static void end() {
        mnist.close();
        guest.leave();
    }

    private static void assertLearns(RankedTraining ranks) {
        var _ = ranks.start(Set.of(CLUSTER.node(), guest.name()));
        ranks.learnt(ranks.ranks()).kept().delete();
    }

    @Test
    void ranksOfAnIndexedJob() {
        assertLearns(mnist.training("mnist-ranks", "job", Map.of("batch.kubernetes.io/job-name", "mnist-ranks")));
    }

    @Test
    void ranksOfAPyTorchJob() {
        KubeflowOperators.startTrainingOperator(CLUSTER);

        assertLearns(mnist.training(
                "pytorchjob", "pytorchjobs.kubeflow.org", Map.of("training.kubeflow.org/job-name", "pytorchjob")));
    }

    @Test
    void ranksOfATrainJob() {
        KubeflowOperators.startJobSet(CLUSTER);
        KubeflowOperators.startTrainer(CLUSTER);

        assertLearns(mnist.training(
                "trainjob", "trainjobs.trainer.kubeflow.org", Map.of("jobset.sigs.k8s.io/jobset-name", "trainjob")));
    }
}

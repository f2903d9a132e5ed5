package dev.siphon.e2e.kubernetes;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/// Two ranks on two nodes learn MNIST, started by a Job and by the real training operator of Kubeflow. Each reads the
/// pictures
/// from a disk of its own node; rank 0 writes the checkpoint to a volume that both have.
@Tag("kubernetes")
@AloneOnCluster
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class OperatorRunsIT {
    private static final Cluster CLUSTER = Cluster.here();

    /// `e2e/kubernetes` puts the operators there.
    private static final Path OPERATORS = CLUSTER.lab().run().resolve("operators");

    private static final String WARMUP = "mnist-everywhere";

    /// Other than Kueue's.
    private static final int TRAINING_OPERATOR_PORT = 9444;

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @SuppressWarnings("NullAway.Init")
    private static KernelNode guest;

    @BeforeAll
    static void warmTwoNodes() {
        siphon = Installation.in(CLUSTER);
        guest = KernelNode.join(siphon, CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 66);
        dataset = SealedDataset.sealMnist(CLUSTER, tenant).declare(tenant.account());
        var _ = CLUSTER.kubectl(
                "-n", tenant.namespace(), "create", "configmap", "mnist", "--from-file=" + Examples.path("mnist.py"));
        CLUSTER.apply("", """
                apiVersion: siphon.dev/v1alpha1
                kind: DatasetWarmup
                metadata: {name: %s}
                spec: {dataset: %s}
                """.formatted(WARMUP, dataset.reference()));
        awaitWarm(2);
    }

    private static void awaitWarm(int nodes) {
        var _ = CLUSTER.kubectl(
                "wait", "datasetwarmup/" + WARMUP, "--for=jsonpath={.status.local}=" + nodes, "--timeout=180s");
    }

    @AfterAll
    static void end() {
        tenant.close();
        var _ = CLUSTER.kubectl("delete", "datasetwarmup", WARMUP);
        dataset.delete();
        guest.leave();
    }

    private static RankedTraining training(String name, String kind, Map<String, String> labels) {
        return new RankedTraining(tenant, dataset, name, kind, labels);
    }

    private static Set<String> bothNodes() {
        return Set.of(CLUSTER.node(), guest.name());
    }

    @Test
    @Order(1)
    void ranksOfAnIndexedJob() {
        RankedTraining ranks = training("mnist-ranks", "job", Map.of("batch.kubernetes.io/job-name", "mnist-ranks"));
        var _ = ranks.start(bothNodes());
        ranks.learnt(ranks.ranks()).kept().delete();
    }

    @Test
    @Order(2)
    void ranksOfAPyTorchJob() {
        startTrainingOperator();

        RankedTraining ranks = training(
                "pytorchjob", "pytorchjobs.kubeflow.org", Map.of("training.kubeflow.org/job-name", "pytorchjob"));
        var _ = ranks.start(bothNodes());
        ranks.learnt(ranks.ranks()).kept().delete();
    }

    /// Busybox stands in for Alpine; its nslookup fails if one of several names does not exist.
    private static void startTrainingOperator() {
        LabOperator operator = new LabOperator(CLUSTER, OPERATORS, "training-operator");
        operator.start(
                new LabOperator.Webhooks(
                        "kubeflow",
                        "training-operator",
                        "training-operator-webhook-cert",
                        "10.96.0.22",
                        TRAINING_OPERATOR_PORT),
                "training-operator.v1 --enable-scheme=pytorchjob --metrics-bind-address=0 --health-probe-bind-address=0"
                        + " --webhook-server-port=" + TRAINING_OPERATOR_PORT
                        + " --pytorch-init-container-template-file=" + operator.configuration("""
                        - name: init-pytorch
                          image: siphon.test/pause:1
                          command: [sh, -c, 'until nslookup {{.MasterAddr}} | grep -q ^Name:; do sleep 1; done']
                        """),
                """
                apiVersion: kubeflow.org/v1
                kind: PyTorchJob
                metadata: {name: probe, namespace: default}
                spec:
                  pytorchReplicaSpecs:
                    Master: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: none}]}}}
                """);
    }
}

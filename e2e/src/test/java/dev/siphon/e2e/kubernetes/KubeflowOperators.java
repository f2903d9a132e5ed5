package dev.siphon.e2e.kubernetes;

import java.nio.file.Path;

/// The real operators of Kubeflow, and JobSet, as processes of the lab; `e2e/kubernetes` puts them there.
final class KubeflowOperators {
    /// Other than Kueue's and each other's.
    private static final int TRAINING_OPERATOR_PORT = 9444;

    private static final int JOBSET_PORT = 9445;
    private static final int TRAINER_PORT = 9446;

    private KubeflowOperators() {}

    private static LabOperator operator(Cluster cluster, String name) {
        return new LabOperator(cluster, folder(cluster), name);
    }

    private static Path folder(Cluster cluster) {
        return cluster.lab().run().resolve("operators");
    }

    /// Busybox stands in for Alpine; its nslookup fails if one of several names does not exist.
    static void startTrainingOperator(Cluster cluster) {
        LabOperator operator = operator(cluster, "training-operator");
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

    static void startJobSet(Cluster cluster) {
        LabOperator jobSet = operator(cluster, "jobset");
        jobSet.start(
                new LabOperator.Webhooks(
                        "jobset-system",
                        "jobset-webhook-service",
                        "jobset-webhook-server-cert",
                        "10.96.0.23",
                        JOBSET_PORT),
                "jobset --config=" + jobSet.configuration("""
                        apiVersion: config.jobset.x-k8s.io/v1alpha1
                        kind: Configuration
                        health: {healthProbeBindAddress: '0'}
                        metrics: {bindAddress: '0'}
                        webhook: {port: %d}
                        leaderElection: {leaderElect: false}
                        internalCertManagement: {enable: true}
                        """.formatted(JOBSET_PORT)),
                """
                apiVersion: jobset.x-k8s.io/v1alpha2
                kind: JobSet
                metadata: {name: probe, namespace: default}
                spec:
                  replicatedJobs:
                    - name: probe
                      template:
                        spec: {template: {spec: {restartPolicy: Never, containers: [{name: probe, image: none}]}}}
                """);
    }

    /// With its runtimes for PyTorch.
    static void startTrainer(Cluster cluster) {
        LabOperator trainer = operator(cluster, "trainer");
        trainer.start(
                new LabOperator.Webhooks(
                        "kubeflow-system",
                        "kubeflow-trainer-controller-manager",
                        "kubeflow-trainer-webhook-cert",
                        "10.96.0.24",
                        TRAINER_PORT),
                "trainer-controller-manager --config=" + trainer.configuration("""
                        apiVersion: config.trainer.kubeflow.org/v1alpha1
                        kind: Configuration
                        health: {healthProbeBindAddress: '0'}
                        metrics: {bindAddress: '0'}
                        webhook: {port: %d}
                        leaderElection: {leaderElect: false}
                        certManagement:
                          enable: true
                          webhookServiceName: kubeflow-trainer-controller-manager
                          webhookSecretName: kubeflow-trainer-webhook-cert
                        """.formatted(TRAINER_PORT)),
                """
                apiVersion: trainer.kubeflow.org/v1alpha1
                kind: ClusterTrainingRuntime
                metadata: {name: probe, labels: {trainer.kubeflow.org/framework: torch}}
                spec:
                  mlPolicy: {numNodes: 1, torch: {}}
                  template:
                    spec:
                      replicatedJobs:
                        - name: node
                          template:
                            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                            spec: {template: {spec: {containers: [{name: node, image: none}]}}}
                """);
        var _ = cluster.kubectl(
                "apply", "-f", folder(cluster).resolve("torch_distributed.yaml").toString());
    }

    /// Its manifest expects its namespace.
    static void startMpiOperator(Cluster cluster) {
        var _ = cluster.tryKubectl("create", "namespace", "kubeflow");
        operator(cluster, "mpi-operator").start("mpi-operator -lock-namespace=default");
    }
}

package dev.siphon.e2e.kubernetes;

import java.util.Map;

/// MNIST as a dataset of an account that is on the disks of all nodes, with the examples' program for its pods.
record WarmMnist(Tenant tenant, SealedDataset dataset) implements AutoCloseable {
    private static final String WARMUP = "mnist-everywhere";

    /// @param number of the account
    static WarmMnist of(Cluster cluster, int number) {
        Tenant tenant = Tenant.ofAccount(cluster, number);
        SealedDataset dataset = SealedDataset.sealMnist(cluster, tenant).declare(tenant.account());
        var _ = cluster.kubectl(
                "-n", tenant.namespace(), "create", "configmap", "mnist", "--from-file=" + Examples.path("mnist.py"));
        cluster.apply("", """
                apiVersion: siphon.dev/v1alpha1
                kind: DatasetWarmup
                metadata: {name: %s}
                spec: {dataset: %s}
                """.formatted(WARMUP, dataset.reference()));
        return new WarmMnist(tenant, dataset);
    }

    /// Waits until it is on the disks of so many nodes.
    WarmMnist on(int nodes) {
        var _ = tenant.cluster()
                .kubectl(
                        "wait", "datasetwarmup/" + WARMUP, "--for=jsonpath={.status.local}=" + nodes, "--timeout=180s");
        return this;
    }

    /// Returns an example that learns it.
    ///
    /// @param name as of [RankedTraining]
    RankedTraining training(String name, String kind, Map<String, String> labels) {
        return new RankedTraining(tenant, dataset, name, kind, labels);
    }

    @Override
    public void close() {
        tenant.close();
        var _ = tenant.cluster().kubectl("delete", "datasetwarmup", WARMUP);
        dataset.delete();
    }
}

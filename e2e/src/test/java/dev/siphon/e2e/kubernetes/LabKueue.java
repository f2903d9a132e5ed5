package dev.siphon.e2e.kubernetes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A real Kueue in the lab, whose Workloads Siphon's admission check holds.
final class LabKueue {
    private LabKueue() {}

    /// For scripts: starts Kueue for Jobs, and enables the check.
    public static void main(String[] none) {
        Cluster cluster = Cluster.here();
        start(cluster, "batch/job");
        enable(cluster, Installation.in(cluster));
    }

    /// Starts it for jobs of these kinds, as its configuration names them.
    static void start(Cluster cluster, String... frameworks) {
        LabOperator kueue = new LabOperator(cluster, cluster.lab().run().resolve("kueue"), "kueue");
        String configuration = kueue.configuration("""
            apiVersion: config.kueue.x-k8s.io/v1beta2
            kind: Configuration
            namespace: kueue-system
            health: {healthProbeBindAddress: '127.0.0.1:18081'}
            metrics: {bindAddress: '0'}
            webhook: {host: 10.96.0.21, port: 9443}
            leaderElection: {leaderElect: false}
            internalCertManagement:
              {enable: true, webhookServiceName: kueue-webhook-service, webhookSecretName: kueue-webhook-server-cert}
            integrations: {frameworks: [%s]}
            """.formatted(String.join(", ", frameworks)))
                .toString();
        kueue.start(
                new LabOperator.Webhooks(
                        "kueue-system", "kueue-webhook-service", "kueue-webhook-server-cert", "10.96.0.21", 9443),
                "kueue --config=" + configuration + " --feature-gates=VisibilityOnDemand=false",
                """
                apiVersion: kueue.x-k8s.io/v1beta2
                kind: ResourceFlavor
                metadata: {name: probe}
                """);
    }

    /// Lets the controller answer checks, as the chart does with `kueue.enabled`.
    static void enable(Cluster cluster, Installation siphon) {
        Path file = cluster.lab().run().resolve("kueue-enabled.yaml");
        try {
            var _ = Files.writeString(
                    file,
                    Stream.of(Chart.rendered("--set", "kueue.enabled=true").split("(?m)^---$", -1))
                            .filter(each -> each.contains("\n  name: siphon-workloads\n")
                                    || each.contains("\n  name: siphon-released-workloads\n")
                                    || each.contains("kind: ClusterRole\nmetadata:\n  name: siphon-controller\n"))
                            .collect(Collectors.joining("\n---\n")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        var _ = cluster.kubectl("apply", "-f", file.toString());
        siphon.setControllerEnvironment("SIPHON_KUEUE=true");
    }

    static void disable(Installation siphon) {
        siphon.setControllerEnvironment("SIPHON_KUEUE-");
    }

    /// Creates the example's queue `training` in a namespace.
    static void queue(Tenant tenant) {
        tenant.cluster()
                .apply(
                        tenant.namespace(),
                        parts(tenant).stream().filter(each -> !isJob(each)).collect(Collectors.joining("---")));
    }

    /// Returns the example's Job.
    static String job(Tenant tenant) {
        return parts(tenant).stream().filter(LabKueue::isJob).collect(Collectors.joining("---"));
    }

    private static List<String> parts(Tenant tenant) {
        return List.of(new Examples(tenant).text("kueue.yaml").split("(?m)^---$", -1));
    }

    private static boolean isJob(String manifest) {
        return manifest.contains("kind: Job\n");
    }
}

package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Kueue as a process of the lab, with its own custom resources and webhooks. The API
/// server
/// reaches webhooks at their Service's address, which the lab has too, but not at its own port 443. They go with the
/// lab.
record QueueOperator(Cluster cluster, String name) {
    private static final String KUEUE = """
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

    /// Starts Kueue and waits until its webhooks answer.
    static void kueue(Cluster cluster) {
        QueueOperator kueue = new QueueOperator(cluster, "kueue");
        kueue.withWebhooks("10.96.0.21", KUEUE, "--feature-gates=VisibilityOnDemand=false");
        String flavor = kueue.write("flavor.yaml", """
                apiVersion: kueue.x-k8s.io/v1beta2
                kind: ResourceFlavor
                metadata: {name: probe}
                """).toString();
        var _ = Await.until(
                "Kueue's webhooks answer",
                Cluster.PATIENCE,
                () -> cluster.tryKubectl("apply", "--dry-run=server", "-f", flavor)
                                .exit()
                        == 0);
    }

    private Path file(String file) {
        return cluster.lab().run().resolve("kueue").resolve(file);
    }

    private void define() {
        var _ = cluster.kubectl(
                "apply", "--server-side", "-f", file(name + ".yaml").toString());
    }

    /// @param address where its Service and its webhooks are
    private void withWebhooks(String address, String configuration, String flag) {
        var _ = cluster.tryKubectl("create", "namespace", name + "-system");
        try {
            String manifest = Files.readString(file(name + ".yaml"));
            var _ = Files.writeString(
                    file(name + ".yaml"),
                    manifest.replaceFirst("(?m)^  type: '?ClusterIP'?$", "  type: ClusterIP\n  clusterIP: " + address)
                            .replaceFirst("(?m)port: 443$", "port: 9443")
                            .replaceAll(
                                    "(?m)^( {6,})name: '?" + name + "-webhook-service'?$",
                                    "$1name: " + name + "-webhook-service\n$1port: 9443"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        define();
        run("""
                mount --make-rprivate /
                certs=/tmp/k8s-webhook-server/serving-certs
                mkdir -p $certs
                mount -t tmpfs -o mode=0700 certs $certs
                %1$s ip address add %2$s/32 dev lo || true
                # what the kubelet does for a pod that mounts the Secret
                mounted() {
                  for each in ca.crt tls.crt tls.key; do
                    kubectl -n %3$s-system get secret %3$s-webhook-server-cert -o "jsonpath={.data.${each/./\\\\.}}" |
                      base64 -d >$certs/..$each
                    [[ -s $certs/..$each ]] || return 1
                  done
                  for each in ca.crt tls.crt tls.key; do mv $certs/..$each $certs/$each; done
                }
                (until mounted; do sleep 0.2; done) &
                exec %4$s --config=%5$s %6$s
                """.formatted(
                Chart.program("busybox"), address, name, file(name), write("configuration.yaml", configuration), flag));
    }

    /// Runs it as a daemon of the lab with an administrator's rights.
    private void run(String script) {
        Path start = write(
                "start",
                "set -euo pipefail\nexport KUBECONFIG=" + System.getenv("KUBECONFIG") + " PATH="
                        + Chart.program("kubectl").getParent() + ":$PATH\n" + script);
        Path daemon = cluster.lab().run().resolve("daemon").resolve(name);
        try {
            Files.writeString(daemon, "#!/bin/sh\nexec unshare --mount bash " + start + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        boolean _ = daemon.toFile().setExecutable(true);
        var _ = Command.run(Project.folder().resolve("e2e/lab.d/daemon").toString(), "start", name);
    }

    private Path write(String file, String text) {
        try {
            return Files.writeString(file(name + "-" + file), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

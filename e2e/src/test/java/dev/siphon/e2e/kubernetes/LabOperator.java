package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// An operator as a process of the lab with an administrator's rights, with its own custom resources and webhooks. It
/// goes with the lab.
///
/// @param folder its program and its manifest `NAME.yaml`, which `e2e/kubernetes` puts there
record LabOperator(Cluster cluster, Path folder, String name) {
    private static final Pattern DEFINITION = Pattern.compile("(?m)^  name: (\\S+)$");

    /// Where its webhooks are. The API server reaches them at their Service's address, which the lab has too, but not
    /// at its port 443.
    ///
    /// @param secret with their certificate, which the operator makes
    record Webhooks(String namespace, String service, String secret, String address, int port) {}

    /// Applies its manifest and starts `command` in its folder.
    void start(String command) {
        apply(manifest());
        run(forever(command));
    }

    /// Does the same, and waits until its webhooks take a valid object.
    void start(Webhooks webhooks, String command, String valid) {
        var _ = cluster.tryKubectl("create", "namespace", webhooks.namespace());
        apply(Stream.of(manifest().split("(?m)^---$"))
                .map(each -> placed(each, webhooks))
                .collect(Collectors.joining("---")));
        run("""
                certs=/tmp/k8s-webhook-server/serving-certs
                mkdir -p $certs
                mount -t tmpfs -o mode=0700 certs $certs
                %1$s ip address add %2$s/32 dev lo || true
                # what the kubelet does for a pod that mounts the Secret
                mounted() {
                  for each in ca.crt tls.crt tls.key; do
                    kubectl -n %3$s get secret %4$s -o "jsonpath={.data.${each/./\\\\.}}" | base64 -d >$certs/..$each
                    [[ -s $certs/..$each ]] || return 1
                  done
                  for each in ca.crt tls.crt tls.key; do mv $certs/..$each $certs/$each; done
                }
                (until mounted; do sleep 0.2; done) &
                %5$s
                """.formatted(
                        Chart.program("busybox"),
                        webhooks.address(),
                        webhooks.namespace(),
                        webhooks.secret(),
                        forever(command)));
        String probe = write("probe.yaml", valid).toString();
        var _ = Await.until(
                "the webhooks of " + name + " answer",
                Cluster.PATIENCE,
                () -> cluster.tryKubectl("apply", "--dry-run=server", "-f", probe)
                                .exit()
                        == 0);
    }

    /// Starts it again as a kubelet does: an operator ends if the API server does not know its custom resources yet.
    private String forever(String command) {
        return "until " + folder + "/" + command + "; do sleep 1; done";
    }

    /// Returns an object of its manifest with the webhooks' Service where the operator listens.
    private static String placed(String manifest, Webhooks webhooks) {
        String name = "name: '?" + webhooks.service() + "'?$";
        if (manifest.matches("(?ms).*^kind: Service$.*^  " + name + ".*")) {
            return manifest.replaceFirst("(?m)^spec:$", "spec:\n  clusterIP: " + webhooks.address())
                    .replaceFirst("(?m)port: 443$", "port: " + webhooks.port());
        }
        return manifest.replaceAll(
                "(?m)^( {6,})" + name, "$1name: " + webhooks.service() + "\n$1port: " + webhooks.port());
    }

    /// Returns the path of a configuration that is written for it.
    Path configuration(String text) {
        return write("configuration.yaml", text);
    }

    private String manifest() {
        try {
            return Files.readString(folder.resolve(name + ".yaml"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void apply(String manifest) {
        var _ = cluster.kubectl(
                "apply",
                "--server-side",
                "--force-conflicts",
                "-f",
                write("manifest.yaml", manifest).toString());
        Stream.of(manifest.split("(?m)^---$"))
                .filter(each -> each.contains("\nkind: CustomResourceDefinition\n"))
                .map(DEFINITION::matcher)
                .filter(Matcher::find)
                .forEach(name -> cluster.awaitEstablished(name.group(1)));
    }

    private void run(String script) {
        Path start = write(
                "start",
                "set -euo pipefail\nmount --make-rprivate /\nexport KUBECONFIG=" + System.getenv("KUBECONFIG")
                        + " PATH=" + Chart.program("kubectl").getParent() + ":$PATH\n" + script);
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
            return Files.writeString(folder.resolve(name + "-" + file), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

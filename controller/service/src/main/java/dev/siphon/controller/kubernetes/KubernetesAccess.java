package dev.siphon.controller.kubernetes;

import dev.siphon.csi.QuotedText;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/// How to reach the driver's Kubernetes, and its namespace there. Contains no secret: the kubeconfig is read when
/// it is used.
///
/// @param namespace the driver's own, with the keys of volumes as Secrets and the grants as a ConfigMap
/// @param kubeconfig how to reach the API server; empty to use the service account of this process's pod
public record KubernetesAccess(String namespace, Optional<Path> kubeconfig) {
    /// The name of a namespace (Kubernetes, "Object Names and IDs": RFC 1123 label).
    private static final Pattern NAMESPACE = Pattern.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");

    /// @throws IllegalArgumentException if `namespace` is no valid name, or the kubeconfig cannot be read
    public KubernetesAccess {
        if (!NAMESPACE.matcher(namespace).matches()) {
            throw new IllegalArgumentException(QuotedText.of(namespace)
                    + " is not a valid namespace: use at most 63 lower-case letters, digits and '-'");
        }
        kubeconfig.filter(file -> !Files.isReadable(file)).ifPresent(file -> {
            throw new IllegalArgumentException("the kubeconfig cannot be read: " + file);
        });
    }

    /// Checks that an API server is configured, without connecting to it.
    ///
    /// @throws IllegalArgumentException if the kubeconfig is invalid or has no current context, or if it is absent
    ///     and this process runs in no pod
    public void check() {
        var _ = Connection.config(this);
    }
}
